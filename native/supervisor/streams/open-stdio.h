/* The ends of the tool's streams, before there is a tool. */
#pragma once

#include "boundary/stdio.h"
#include "supervisor/streams/copier.h"
#include "wire/plan.h"

/* The tool's ends and ours. Terminals come later: the keeper makes them, inside. */
void open_stdio(const struct plan *plan, struct stdio *tool, struct stdio *own, struct copiers *copiers);
