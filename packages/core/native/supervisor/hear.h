#pragma once

#include "supervisor/call.h"

void hear_cell(struct call *call);
void hear_outer(struct call *call);
