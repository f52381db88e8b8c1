#pragma once

#include "wire/plan.h"

void make_scratch(const struct plan *plan);
void remove_scratch(const struct plan *plan);
/* With everything in it. Whether it is gone. */
bool remove_folder(const char *path);
uint64_t scratch_in_use(const struct plan *plan);
