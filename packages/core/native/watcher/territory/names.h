#pragma once

#include "wire/system.h"

/* Where a protected name counts. */
enum scope {
	SCOPE_ANYWHERE = 'a', /* at every depth */
	SCOPE_PROJECT = 'p', /* at every depth, but not in folders of installed dependencies */
	SCOPE_ROOT = 'r', /* directly in the write root */
	SCOPE_FILE = 'f', /* at every depth, unless it is a folder */
};
#define SCOPE_LETTERS "aprf"

struct name {
	enum scope scope;
	const char *path; /* one or more names, joined by slashes */
};

#define ENDINGS 128 /* with some 500 names, one path in fifteen is compared with all of them */

struct names {
	struct name *list;
	size_t count;
	uint64_t endings[ENDINGS]; /* a bit for the hash of each name that a protected path can end in */
};

/* `words` to `end`: a scope letter and a name each, which stay where they are. False when a letter is none. */
bool take_names(struct names *names, const char *words, const char *end);
bool is_protected_name(const struct names *names, const char *path, char kind);
/* Whether a path is a folder on the way to this name; `rest` is the name behind it. */
bool leads_to_name(const char *path, const char *name, const char **rest);
/* Whether a path is this name or, as a link, leads to it. */
bool means_name(const char *path, const char *name, char kind);
