/* fork() and its like, counted. */
#pragma once

#include "keeper/call/notification.h"

struct task_count {
	uint64_t assumed; /* never less than what is alive: births are counted, deaths only when it matters */
	bool reported;
};

void answer_fork(const struct notification *call, struct task_count *count);
