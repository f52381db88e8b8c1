/* The checks of opens and removals that are watched or held here, as BPF. */
#pragma once

#include "boundary/filter/program.h"

void check_truncation(struct program *program, int flags);
/* `folder`: the number of that argument, or -1 */
void check_reading(struct program *program, const struct plan *plan, int folder);
void check_removal(struct program *program, const struct plan *plan);
