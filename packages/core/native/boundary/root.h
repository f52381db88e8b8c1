#pragma once

#include "wire/applied.h"
#include "wire/plan.h"

void assemble_root(const struct plan *plan, struct applied *applied);
