/*
 * Signals of the tool, where neither a pid namespace nor Landlock (before ABI 6)
 * keeps them inside: the keeper sends them, to processes of the call alone.
 *
 * Numbers of processes are given out again. So each target is held by a
 * descriptor first, then found to be the call's, then signalled by that.
 */
#include "keeper/limits/signals.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/scope.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct post {
	pid_t process; /* or 0: any */
	pid_t group; /* or 0: any */
	int signal;
	unsigned reached;
};

static pid_t group_of(pid_t pid)
{
	char path[64], text[1024];
	int group = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	const char *behind_name = read_stat(text, sizeof text, path);
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
	char path[64], text[1024];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", number_in_proc(call, call->request->pid), descriptor);
	const char *line = read_proc(text, sizeof text, path) > 0 ? strstr(text, "\nPid:") : NULL;
	return line ? atoi(line + 5) : 0;
}

static int answer_kill(const struct notification *call, pid_t to, int signal)
{
	if (to > 0)
		return send_to(to, 0, signal);
	if (to == 0)
		return send_to(0, group_of(number_in_proc(call, call->request->pid)), signal);
	return to == -1 ? EPERM : send_to(0, -to, signal);
}

void answer_signal(const struct notification *call)
{
	const __u64 *arguments = call->request->data.args;
	pid_t own = process_of_thread(call, call->request->pid);
	int error = EPERM;

	if (own == 0) {
		respond(call, 0, EPERM);
		return;
	}
	switch (call->request->data.nr) {
	case SYS_kill: error = answer_kill(call, int_argument(call, 0), int_argument(call, 1)); break;
	case SYS_pidfd_send_signal: {
		pid_t process = process_of_descriptor(call, int_argument(call, 0));
		error = process > 0 && !arguments[3] ? send_to(process, 0, int_argument(call, 1)) : EPERM;
		break;
	}
	case SYS_tkill:
		/* The kernel looks whether it is a thread of that process, which waits and so keeps its number. */
		error = syscall(SYS_tgkill, own, int_argument(call, 0), int_argument(call, 1)) < 0 ? EPERM : 0;
		break;
	case SYS_tgkill:
		if (int_argument(call, 0) == own)
			error = syscall(SYS_tgkill, own, int_argument(call, 1), int_argument(call, 2)) < 0 ? errno : 0;
		else if (arguments[0] == arguments[1])
			error = send_to(int_argument(call, 0), 0, int_argument(call, 2));
		break;
	default: /* with a value that only the receiver looks at */
		if (int_argument(call, 0) == own) {
			let_through(call);
			return;
		}
	}
	respond(call, 0, error);
}
