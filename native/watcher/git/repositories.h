/* Repositories of submodules and work trees. */
#pragma once

#include "watcher/territory/aside.h"

/* Whether a `.git` file leads to a repository that Cordon looks after by its name, and that leads back. */
bool leads_to_own_repository(struct territory *territory, const char *path);
/* Puts aside what would run in the repositories at or below this folder. */
void disarm_repositories(struct territory *territory, const char *folder, was_put_aside *moved, void *context);

void disarm_hooks(struct territory *territory, const char *path, was_put_aside *moved, void *context);
