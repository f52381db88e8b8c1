#pragma once

#include "boundary/stdio.h"
#include "wire/plan.h"

/* A chatty program wakes the supervisor less often with more room. */
#define STREAM_BUFFER (256 << 10)

struct copiers {
	pid_t pids[3];
	bool gives_back; /* stdin is a file, whose position is left behind what was read */
};

/* The tool's ends and ours. Terminals come later: the keeper makes them, inside. */
void open_stdio(const struct plan *plan, struct stdio *tool, struct stdio *own, struct copiers *copiers);
void finish_input(const struct copiers *copiers);
void end_copiers(const struct copiers *copiers);
