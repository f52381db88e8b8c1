/* openat2, and the same by hand where it is refused: inside another cell, where it would carry what must be checked,
 * and in older containers. */
#pragma once

#include <linux/openat2.h>
#include <stdint.h>

/* `flags`: as of open(). `resolve`: RESOLVE_... of openat2(). -1 with errno. */
int open_how(int at, const char *path, int flags, uint64_t resolve);
