#pragma once

#include "wire/plan.h"

void assemble_root(const struct plan *plan);
