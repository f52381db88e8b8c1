#pragma once

#include "boundary/cgroup.h"

pid_t clone_into_namespaces(const struct cgroup *cgroup, bool keep_network);
void map_own_ids(uid_t uid, gid_t gid);
void raise_loopback(void);
