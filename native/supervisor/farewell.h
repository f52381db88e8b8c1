/* The end of a program that waited for its call. */
#pragma once

#include "supervisor/call.h"

/* While it speaks: later nobody knows. */
void note_size(struct call *call);
/* It has closed its output. */
void begin_farewell(struct call *call);
void look_whether_gone(struct call *call);
