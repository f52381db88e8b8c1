#pragma once

#include "supervisor/call.h"

/* While the program still runs: later nobody knows. */
void note_size(struct call *call);
/* When it has closed its output. */
void begin_farewell(struct call *call);
void look_whether_gone(struct call *call);
long pause_before_look(const struct call *call); /* nanoseconds */
