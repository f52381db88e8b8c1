#pragma once

#include "wire/plan.h"

/* Returns the notification descriptor, or -1 when the plan traps nothing. */
int apply_seccomp(const struct plan *plan);
