/* What the tool tried and the boundary refused, told to the host. */
#pragma once

#include "keeper/call/notification.h"

/* A tool may try the same thing a million times. The keeper reports it once, and a few hundred things at most. */
#define MOST_TOLD 512

struct told {
	uint64_t at[MOST_TOLD];
	size_t count;
	bool of_nested; /* a cell inside this one did it */
};

/* `fields`: the inside of a JSON object, different for each kind (src/sandbox/result/events.ts reads it). */
void report_violation(const struct notification *call, const char *kind, const char *fields);
void report_path_violation(const struct notification *call, const char *kind, const char *path);
