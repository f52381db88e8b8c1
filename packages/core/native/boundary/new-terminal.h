#pragma once

#include "boundary/stdio.h"
#include "wire/plan.h"

/* A new session with a new terminal; the tool's streams that are one lead to it. The keeper leads it. */
void open_terminal(int supervisor, const struct plan *plan, struct stdio *tool);
/* The tool becomes its foreground, or a job in its background. */
void join_terminal(const struct plan *plan, int terminal);
