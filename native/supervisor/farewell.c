/*
 * The end of a program that waited for its call: it says all that it has to say
 * and closes its output. From then on it is not wanted any more, but taking down
 * its memory keeps the kernel busy for longer than many a call takes (of Node,
 * two milliseconds). Nobody needs to wait for that.
 *
 * The whole pid namespace is killed first, so that nobody in it can fork any more.
 * Then every thread is looked at: one that is on its way out runs no instruction
 * of its own again, and is in no system call. Twice, because a process whose
 * parent goes in between is listed under another one.
 */
#include "supervisor/farewell.h"
#include "processes/descendants.h"
#include "processes/proc.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PF_EXITING 0x4 /* of the flags in /proc/PID/stat */
#define MOST_LOOKS 50

struct look {
	bool all_leave;
	unsigned long ticks;
};

static void look_at_thread(const char *thread, pid_t pid, void *context)
{
	struct look *look = context;
	char path[96], text[1024] = "";
	unsigned flags = 0;
	unsigned long user = 0, system = 0;

	(void)pid;
	snprintf(path, sizeof path, "%s/stat", thread);
	const char *behind_name = read_stat(text, sizeof text, path);
	if (!*text)
		return; /* gone */
	if (!behind_name ||
	    sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %lu %lu", &flags, &user, &system) != 3)
		look->all_leave = false;
	else
		look->all_leave = look->all_leave && flags & PF_EXITING;
	look->ticks += user + system;
}

static void look_at_process(pid_t pid, void *context)
{
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
	char path[64], text[4096];

	if (!call->plan->begins_later || call->tool <= 0)
		return;
	snprintf(path, sizeof path, "/proc/%d/status", call->tool);
	if (read_proc(text, sizeof text, path) > 0)
		call->largest = field_in_kilobytes(text, "\nVmHWM:") / 1024;
}

void begin_farewell(struct call *call)
{
	/* Elsewhere killing already waits for the end; and without its size there is nothing to tell of it. */
	if (!call->plan->begins_later || !call->begun || call->killed || call->plan->form != FORM_NAMESPACES ||
	    call->largest == 0)
		return;
	kill_cell(call);
	call->looks_left = MOST_LOOKS;
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
