#pragma once

#include "watcher/territory/territory.h"

/* False when it was known already (it stays as it was first seen, and what replaced it is judged against that), or
 * there are too many. */
bool remember(struct territory *territory, const char *path, char kind);
void remember_closed(struct territory *territory, const char *path);
/* What is gone. Links are kept while a call runs, because they are put back when it ends. */
void forget_vanished(struct territory *territory);
/* Closed folders that have been opened by their owner are forgotten, and put among the unexplored. */
void forget_opened(struct territory *territory);
