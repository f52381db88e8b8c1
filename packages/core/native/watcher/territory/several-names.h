#pragma once

#include "watcher/territory/territory.h"

/* A name was made for a file that has another. */
void note_other_name(struct territory *territory, const char *path, const struct statx *status);
/* Which of the noted names are still there. */
void settle_other_names(struct territory *territory);
/* The files that names were made for since there were `count` of them, sorted. The caller frees the list. */
struct identities files_linked_since(const struct several_names *several, size_t count, uint64_t lost);
