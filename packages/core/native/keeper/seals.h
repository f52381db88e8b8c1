#pragma once

#include "wire/plan.h"

int open_mount_table(void);
/* When all is mounted. */
void begin_seal_watch(const struct plan *plan, int table);
/* Since this was asked, or polled for, last. */
bool mounts_changed(int table);
/* Whether something that was mounted no longer is; the host is told then. */
bool tell_fallen_seal(const struct plan *plan, int supervisor);
