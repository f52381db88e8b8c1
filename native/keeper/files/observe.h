/* What the tool tried and the boundary seems to refuse, for the host to judge. */
#pragma once

#include "keeper/call/notification.h"

/* TO_MAKE also opens what is there; TO_MAKE_NEW would fail by itself then. */
enum attempt { TO_READ, TO_WRITE, TO_MAKE, TO_MAKE_NEW, ATTEMPTS };

/* Of each kind so many paths are told: the host judges them all at the end, and a tool decides how many it tries. */
#define MOST_ATTEMPTS 256

struct attempts {
	uint64_t told[ATTEMPTS][MOST_ATTEMPTS];
	size_t count[ATTEMPTS];
};

/* `withheld`: the cell has no such object or, of what is to be made, no such folder. Each is told once. */
void report_attempt(const struct notification *call, const char *path, enum attempt attempt, bool withheld);
bool path_for_keeper(const struct notification *call, int at, const char *path, char *into, size_t room);
enum holding { FREE, HELD, MISSING };
/* Whether the boundary keeps the tool from reading or writing what the path names to the keeper. */
enum holding holding_of(const struct plan *plan, const char *path, unsigned right);
/* The same of writing in the folder that the path lies in. */
enum holding holding_of_folder(const struct plan *plan, const char *path);

void answer_open(const struct notification *call);
