#pragma once

#include "watcher/territory/identity.h"

struct found {
	char *path; /* below the root */
	char kind; /* d, f or l */
	bool closed; /* a folder that its own user may not read: sealed as a whole */
	char *target; /* of a link, which is put back when it was changed */
	bool on_the_way; /* no protected name itself, but a link that is one leads through it, or there */
	struct identity identity;
	uint64_t seen; /* the turn in which it was found */
};

struct findings {
	struct found *list;
	size_t count;
	size_t *index; /* positions in the list, plus one; 0 is free */
	size_t index_room;
};

struct found *find(const struct findings *found, const char *path);
/* A file that was found before, by whatever name. */
const struct found *find_object(const struct findings *found, const struct statx *status);
/* It must not be among them. */
struct found *add_found(struct findings *found, const char *path);
/* After something was taken out of the list. */
void build_index(struct findings *found);
/* Whether a path is a closed folder, or lies in one. */
bool is_in_closed(const struct findings *all, const char *path);
void free_findings(struct findings *found);
