/* What the tool tried and the boundary refused, told to the host. */
#pragma once

#include "keeper/call/notification.h"

/* Of a tool that tries the same thing a million times each is told once, and not more than a few hundred. */
#define MOST_TOLD 512

struct told {
	uint64_t at[MOST_TOLD];
	size_t count;
	bool of_nested; /* it is a cell inside this one that is told of */
};

/* `fields`: the inside of a JSON object, different for each kind (src/sandbox/result/events.ts reads it). */
void report_violation(const struct notification *call, const char *kind, const char *fields);
void report_path_violation(const struct notification *call, const char *kind, const char *path);
