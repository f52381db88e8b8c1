/* What the processes of the cell tell the supervisor; of a cell inside another one, also the outer keeper. */
#pragma once

#include "supervisor/call.h"

void hear_cell(struct call *call);
void hear_outer(struct call *call);
