#pragma once

#include "wire/plan.h"

void make_scratch(const struct plan *plan);
void remove_scratch(const struct plan *plan);
uint64_t scratch_in_use(const struct plan *plan);
