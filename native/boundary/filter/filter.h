/* seccomp: the table of syscalls.h as a BPF program. */
#ifndef CORDON_FILTER_H
#define CORDON_FILTER_H

#include "wire/plan.h"

/* Returns the notification descriptor, or -1 when the plan traps nothing. */
int apply_seccomp(const struct plan *plan);

#endif
