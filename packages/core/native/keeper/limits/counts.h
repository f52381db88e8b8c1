#pragma once

#include "keeper/call/notification.h"

struct task_count {
	uint64_t assumed; /* never less than are alive: births are counted, deaths only when it matters */
	bool reported;
};

int answer_fork(const struct notification *call, struct task_count *count);
/* `assumed`: never less than there are. */
int answer_inotify(unsigned *assumed);
