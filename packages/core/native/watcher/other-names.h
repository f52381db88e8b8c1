#pragma once

#include "watcher/territories.h"

/*
 * The names, in the roots, of files that are sealed by another name. `words`: `r` before a write root, `R` before a
 * root that is only read, `s` before what is sealed in one. `!ROOT` is listed for a root that is too large.
 */
void list_other_names(FILE *list, struct territories *all, const char *words, const char *end);
/*
 * Puts a copy into the place of a file that has other names. Calls `gave` for each file at `path`, or in the folder
 * there. `only`: or NULL, the files that this is for.
 */
typedef void gave_copy(const char *path, bool could, void *context);
void give_own_copies(struct territory *territory, const char *path, const struct identities *only, gave_copy *gave,
		     void *context);
