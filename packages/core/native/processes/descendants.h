#pragma once

#include "wire/system.h"

typedef void visit_process(pid_t pid, void *context);
void each_descendant(pid_t root, visit_process *visit, void *context);
/* Every descriptor of a process, with what it leads to. False with errno where they cannot be listed. */
typedef void visit_descriptor(pid_t pid, const char *descriptor, const char *target, void *context);
bool each_descriptor(pid_t pid, visit_descriptor *visit, void *context);
typedef void visit_thread(const char *folder, pid_t pid, void *context); /* `folder`: of the thread, in /proc */
/* False without memory for a list of them: then the first one alone was visited. */
bool each_thread(pid_t pid, visit_thread *visit, void *context);
/* Kills until nothing below `root` is left but `except`; for where no pid namespace does. */
void kill_descendants(pid_t root, const pid_t *except, size_t except_count);

struct consumption {
	uint64_t tasks;
	uint64_t resident; /* bytes, shared pages counted once per process */
	uint64_t cpu; /* milliseconds */
	uint64_t largest; /* the most that one of them ever had resident, in kilobytes */
};

uint64_t count_descendants(pid_t root);
struct consumption measure_descendants(pid_t root);
