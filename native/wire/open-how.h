#pragma once

#include "wire/system.h"

#include <linux/openat2.h>

/* With the `flags` of open() and the `resolve` of openat2(). -1 with errno. */
int open_how(int at, const char *path, int flags, uint64_t resolve);
