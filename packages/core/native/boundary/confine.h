#pragma once

#include "wire/plan.h"

void disable_core_dumps(void);
void drop_privileges(void);
void apply_resource_limits(const struct plan *plan);
void limit_descriptors(const struct plan *plan);
