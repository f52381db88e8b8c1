/*
 * The end of a program that waited for its call: it closes its output when it has said all. Taking down its memory
 * keeps the kernel busy for longer than many a call takes (of Node, two to seven milliseconds). Nobody needs to wait
 * for that.
 *
 * The whole pid namespace is killed first, so that nobody in it can fork any more. Then every thread is looked at: one
 * that is on its way out runs no instruction of its own again. Twice, because a process whose parent goes in between is
 * listed under another one.
 */
#include "supervisor/farewell.h"
#include "processes/descendants.h"
#include "processes/proc.h"

#define PF_EXITING 0x4 /* of the flags in /proc/PID/stat */
#define MOST_LOOKS 50
#define FIRST_PAUSE 100000L /* nanoseconds */

struct look {
	bool all_leave;
	unsigned long ticks;
};

struct stat_of_task {
	unsigned flags;
	unsigned long user, system, threads; /* `threads`: of its process */
};

static bool read_stat(const char *folder, struct stat_of_task *task)
{
	char text[1024];

	if (read_proc(text, sizeof text, "%s/stat", folder) == 0)
		return false; /* gone */
	const char *behind_name = strrchr(text, ')');
	if (!behind_name ||
	    sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %lu",
		   &task->flags, &task->user, &task->system, &task->threads) != 4)
		*task = (struct stat_of_task){ .threads = 1 }; /* not known to leave */
	return true;
}

static void look_at_thread(const char *thread, pid_t pid, void *context)
{
	struct look *look = context;
	struct stat_of_task task;

	(void)pid;
	if (read_stat(thread, &task))
		look->all_leave = look->all_leave && task.flags & PF_EXITING;
}

static void look_at_process(pid_t pid, void *context)
{
	struct look *look = context;
	struct stat_of_task first;
	char folder[64];

	snprintf(folder, sizeof folder, "/proc/%d", pid);
	if (!read_stat(folder, &first))
		return;
	look->ticks += first.user + first.system; /* of all its threads, also those that are gone */
	look->all_leave = look->all_leave && first.flags & PF_EXITING;
	/* A thread can leave alone. The others are looked at only then, because each look takes time from them. */
	if (look->all_leave && first.threads > 1)
		each_thread(pid, look_at_thread, context);
}

static bool all_leave(struct call *call)
{
	struct look first = { .all_leave = true }, second = { .all_leave = true };

	each_descendant(call->keeper, look_at_process, &first);
	if (first.all_leave)
		each_descendant(call->keeper, look_at_process, &second);
	call->cpu = first.ticks * 1000 / sysconf(_SC_CLK_TCK);
	return first.all_leave && second.all_leave;
}

void note_size(struct call *call)
{
	char text[4096];

	if (call->plan->begins_later && call->tool > 0 &&
	    read_proc(text, sizeof text, "/proc/%d/status", call->tool) > 0)
		call->largest = (long)field_of(text, "\nVmHWM:");
}

void begin_farewell(struct call *call)
{
	/* In the landlock form killing already waits for the end. Without its size there is nothing to tell. */
	if (!call->plan->begins_later || !call->begun || call->killed || call->plan->form != FORM_NAMESPACES ||
	    call->largest == 0)
		return;
	kill_cell(call);
	call->looks_left = MOST_LOOKS;
}

/* Each pause is longer than the one before: looking takes the processor from those that are looked at. */
long pause_before_look(const struct call *call)
{
	return FIRST_PAUSE * (long)(MOST_LOOKS + 1 - call->looks_left);
}

void look_whether_gone(struct call *call)
{
	if (call->looks_left == 0 || call->exit_known)
		return;
	call->looks_left--;
	if (!all_leave(call))
		return;
	call->exit_known = true;
	call->exit_status = SIGKILL;
}
