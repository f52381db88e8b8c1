#pragma once

#include "watcher/territory/territory.h"

#define MOST_TERRITORIES 64
/* Of those, without a call: each has one of the 128 instances of inotify that a user has in all. */
#define MOST_IDLE 8

struct territories {
	struct territory *list[MOST_TERRITORIES];
	size_t count;
	struct several_names several;
};

/* NULL with errno when it cannot be opened. */
struct territory *territory_of(struct territories *all, const char *root);
/* NULL, or why the root cannot be guarded: the host refuses the call. `word` to `end`: words of the policy about it. */
const char *cannot_guard(const struct territory *territory, const char *word, const char *end);
/* The same, known after a look at it. */
const char *cannot_guard_all(const struct territory *territory);

/* Looking again and again where inotify is used up. Milliseconds, or -1. */
int until_next_round(const struct territories *all);
bool begins_round(struct territory *territory);
void end_round(struct territory *territory);
