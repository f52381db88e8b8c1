/*
 * inotify_init(), counted: a user has 128 instances in all, and others need some. In a cell with a /proc of its own its
 * user namespace has a limit (root.c). Elsewhere they are counted here, as they are made; what is gone is found out
 * only when it matters.
 */
#include "keeper/limits/inotify-instances.h"
#include "processes/descendants.h"
#include "processes/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

struct search {
	unsigned found;
	bool blind; /* some may be where nobody can look: in a process that forbids it, or in a socket, on their way to
		       another */
};

static bool has_descriptors_waiting(pid_t pid, const char *descriptor)
{
	char path[128], text[1024];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%.16s", pid, descriptor);
	const char *line = read_proc(text, sizeof text, path) > 0 ? strstr(text, "scm_fds:") : NULL;
	return line && strtoul(line + 8, NULL, 10) > 0;
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

void answer_inotify(const struct notification *call, struct inotify_count *count)
{
	if (count->assumed >= MOST_INOTIFY_INSTANCES) {
		struct search search = { 0 };
		each_descendant(own_pid_in_proc(), look_at, &search);
		if (!search.blind && search.found < count->assumed)
			count->assumed = search.found;
	}
	if (count->assumed >= MOST_INOTIFY_INSTANCES) {
		respond(call, 0, EMFILE);
		return;
	}
	count->assumed++;
	let_through(call);
}
