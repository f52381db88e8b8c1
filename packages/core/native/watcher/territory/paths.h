#pragma once

#include "wire/system.h"

struct paths {
	char **list;
	size_t count;
};

void add_path(struct paths *paths, const char *path);
void free_paths(struct paths *paths);
/* Whether a path is this folder, or lies in it; in "" lies everything. */
bool lies_in(const char *path, const char *folder);
/* The part of a path behind the root that it lies in, or NULL. */
const char *behind_root(const char *root, const char *path);
/* Whether a path is this name, or ends in it behind a slash. */
bool ends_in_name(const char *path, const char *name);
/* Behind the last component `.git` of a path (at a slash or the end), or NULL when it has none. */
const char *behind_git(const char *path);
