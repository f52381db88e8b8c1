/* The root of the cell: the granted paths, and nothing else. */
#pragma once

#include "wire/plan.h"

void assemble_root(const struct plan *plan);
