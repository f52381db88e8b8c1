/* fork() and its like, counted. */
#include "keeper/limits/tasks.h"
#include "keeper/call/violations.h"
#include "processes/consumption.h"
#include "processes/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Processes and threads are counted here because nothing else counts both, for every user, in every form. */
void answer_fork(const struct notification *call, struct task_count *count)
{
	uint64_t limit = call->plan->limits.processes;

	if (count->assumed + 1 > limit || count->assumed == 0) {
		struct consumption now;
		measure_descendants(own_pid_in_proc(), &now);
		count->assumed = now.tasks;
	}
	if (count->assumed + 1 > limit) {
		char fields[128];
		snprintf(fields, sizeof fields, "\"limit\":%llu,\"used\":%llu,\"effect\":\"refused\"",
			 (unsigned long long)limit, (unsigned long long)count->assumed + 1);
		if (!count->reported)
			report_violation(call, "processes", fields);
		count->reported = true;
		respond(call, 0, EAGAIN);
		return;
	}
	count->assumed++;
	let_through(call);
}
