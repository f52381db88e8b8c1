#pragma once

#include "watcher/territory/aside.h"

/* Calls `moved` for each; without a new name when it could not be moved. */
void disarm(struct territory *territory, const struct found *found, was_put_aside *moved, void *context);
