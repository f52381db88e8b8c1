/*
 * What is counted as it is made: processes and threads, because nothing else counts both, for every user, in every
 * form; and instances of inotify, of which a user has 128 in all. (A cell with a /proc of its own has a limit of these
 * in its user namespace, see root.c.) What is gone is found out only when it matters.
 */
#include "keeper/limits/counts.h"
#include "processes/descendants.h"
#include "processes/proc.h"

int answer_fork(const struct notification *call, struct task_count *count)
{
	uint64_t limit = call->plan->limits.processes;
	char fields[128];

	if (count->assumed + 1 > limit || count->assumed == 0)
		count->assumed = measure_descendants(own_pid_in_proc()).tasks;
	if (count->assumed + 1 > limit) {
		snprintf(fields, sizeof fields, "\"limit\":%lu,\"used\":%lu,\"effect\":\"refused\"", limit,
			 count->assumed + 1);
		if (!count->reported)
			report_violation(call, "processes", fields);
		count->reported = true;
		return EAGAIN;
	}
	count->assumed++;
	return LET_THROUGH;
}

struct search {
	unsigned found;
	bool blind; /* some may be where we cannot look: in a process that forbids it, or on their way in a socket */
};

static bool has_descriptors_waiting(pid_t pid, const char *descriptor)
{
	char text[1024];

	read_proc(text, sizeof text, "/proc/%d/fdinfo/%.16s", pid, descriptor);
	return field_of(text, "scm_fds:") > 0;
}

static void look_at_descriptor(pid_t pid, const char *descriptor, const char *target, void *context)
{
	struct search *search = context;

	if (strcmp(target, "anon_inode:inotify") == 0)
		search->found++;
	else if (strncmp(target, "socket:", 7) == 0)
		search->blind = search->blind || has_descriptors_waiting(pid, descriptor);
}

static void look_at(pid_t pid, void *context)
{
	struct search *search = context;

	if (!each_descriptor(pid, look_at_descriptor, search))
		search->blind = search->blind || errno == EACCES;
}

int answer_inotify(unsigned *assumed)
{
	if (*assumed >= MOST_INOTIFY_INSTANCES) {
		struct search search = { 0 };
		each_descendant(own_pid_in_proc(), look_at, &search);
		if (!search.blind && search.found < *assumed)
			*assumed = search.found;
	}
	if (*assumed >= MOST_INOTIFY_INSTANCES)
		return EMFILE;
	++*assumed;
	return LET_THROUGH;
}
