#pragma once

#include "wire/system.h"

#include <linux/openat2.h>

/* With the `flags` of open() and the `resolve` of openat2(). -1 with errno. */
int open_how(int at, const char *path, int flags, uint64_t resolve);
/* Whether this is really a file of /proc: an image of a container may have files of the same names. */
bool is_of_proc(int fd);
