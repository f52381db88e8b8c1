/*
 * Signals of the tool, where neither a pid namespace nor Landlock (before ABI 6) keeps them inside: the keeper sends
 * them, to processes of the call alone.
 *
 * Numbers of processes are given out again. So each target is first opened as a descriptor, then found to be the
 * call's, then signalled by that.
 */
#include "keeper/limits/signals.h"
#include "processes/descendants.h"
#include "processes/proc.h"

struct post {
	pid_t process; /* or 0: any */
	pid_t group; /* or 0: any */
	int signal;
	unsigned reached;
};

static pid_t group_of(pid_t pid)
{
	char text[1024];
	int group = 0;

	read_proc(text, sizeof text, "/proc/%d/stat", pid);
	const char *behind_name = strrchr(text, ')');
	return behind_name && sscanf(behind_name, ") %*c %*d %d", &group) == 1 ? group : 0;
}

struct search {
	pid_t wanted;
	bool found;
};

static void look_for(pid_t pid, void *context)
{
	struct search *search = context;

	search->found = search->found || pid == search->wanted;
}

static bool is_of_call(pid_t pid)
{
	struct search search = { .wanted = pid };

	each_descendant(own_pid_in_proc(), look_for, &search);
	return search.found;
}

static void deliver(pid_t pid, void *context)
{
	struct post *post = context;

	if ((post->process && pid != post->process) || (post->group && group_of(pid) != post->group))
		return;
	CLOSE_ON_RETURN int held = (int)syscall(SYS_pidfd_open, pid, 0);
	if (held >= 0 && is_of_call(pid) && syscall(SYS_pidfd_send_signal, held, post->signal, NULL, 0) == 0)
		post->reached++;
}

static int send_to(pid_t process, pid_t group, int signal)
{
	struct post post = { process, group, signal, 0 };

	if (group == getpgrp()) /* ours, when we lead the session of a terminal */
		return EPERM;
	each_descendant(own_pid_in_proc(), deliver, &post);
	if (post.reached)
		return 0;
	return kill(process ? process : -group, 0) < 0 && errno == ESRCH ? ESRCH : EPERM;
}

/* The process that a descriptor of the tool stands for, or 0. */
static pid_t process_of_descriptor(const struct notification *call, int descriptor)
{
	char text[1024];

	read_proc(text, sizeof text, "/proc/%d/fdinfo/%d", tool_in_proc(call), descriptor);
	const char *line = strstr(text, "\nPid:");
	return line ? atoi(line + 5) : 0;
}

static int answer_kill(const struct notification *call, pid_t to, int signal)
{
	if (to > 0)
		return send_to(to, 0, signal);
	if (to == 0)
		return send_to(0, group_of(tool_in_proc(call)), signal);
	return to == -1 ? EPERM : send_to(0, -to, signal);
}

int answer_signal(const struct notification *call)
{
	pid_t own = process_of_thread(call, call->request->pid), process;
	int first = int_argument(call, 0), second = int_argument(call, 1), third = int_argument(call, 2);

	if (own == 0)
		return EPERM;
	switch (call->request->data.nr) {
	case SYS_kill: return answer_kill(call, first, second);
	case SYS_pidfd_send_signal:
		process = process_of_descriptor(call, first);
		return process > 0 && !argument(call, 3) ? send_to(process, 0, second) : EPERM;
	case SYS_tkill:
		/* The kernel looks whether it is a thread of that process, which waits and so keeps its number. */
		return syscall(SYS_tgkill, own, first, second) < 0 ? EPERM : 0;
	case SYS_tgkill:
		if (first == own)
			return syscall(SYS_tgkill, own, second, third) < 0 ? errno : 0;
		return argument(call, 0) == argument(call, 1) ? send_to(first, 0, third) : EPERM;
	default: return first == own ? LET_THROUGH : EPERM; /* with a value that only the receiver looks at */
	}
}
