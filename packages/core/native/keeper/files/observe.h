#pragma once

#include "keeper/call/notification.h"

/* TO_MAKE also opens what is there; TO_MAKE_NEW would fail by itself then. */
enum attempt { TO_READ, TO_WRITE, TO_MAKE, TO_MAKE_NEW, ATTEMPTS };

/* The keeper reports this many paths of each kind: the host judges all at the end, and a tool can try any number. */
#define MOST_ATTEMPTS 256

struct attempts {
	uint64_t told[ATTEMPTS][MOST_ATTEMPTS];
	size_t count[ATTEMPTS];
};

/* `withheld`: the cell lacks the object or, if it is to be made, its folder. The keeper reports each path once. */
void report_attempt(const struct notification *call, const char *path, enum attempt attempt, bool withheld);
/*
 * The tool's path as the keeper can ask for it, in one call. Whether the process is still the same is asked only before
 * something is reported: most paths are as they should be.
 */
bool path_for_keeper(const struct notification *call, int at, const char *path, char *into, size_t room);
enum holding { FREE, HELD, MISSING };
/* Whether the boundary keeps the tool from reading or writing what the path names to the keeper. */
enum holding holding_of(const struct plan *plan, const char *path, unsigned right);
/* The same of writing in the folder that the path lies in. */
enum holding holding_of_folder(const struct plan *plan, const char *path);

int answer_open(const struct notification *call);
