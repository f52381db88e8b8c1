#pragma once

#include "boundary/cgroup.h"
#include "supervisor/streams/open-stdio.h"

/* `channel`: where Node takes descriptors, or -1. `cell`: where the keeper and the tool's process speak. */
int supervise(const struct plan *plan, int host, int channel, int cell, pid_t keeper, const struct cgroup *cgroup,
	      struct stdio stdio, const struct copiers *copiers);
