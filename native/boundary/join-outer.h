/* A cell inside another one, seen from inside. */
#pragma once

#include "wire/plan.h"

/* Makes this process one of a cell that the outer keeper knows. Returns the stream by which that one tells our
 * supervisor. */
int join_outer_cell(const struct plan *plan);
/* The mark alone, for a cell that has no network to ask for. */
void mark_as_nested(void);
