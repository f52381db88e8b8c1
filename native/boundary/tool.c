/* The tool's process: from fork to exec, the boundary closing step by step. */
#include "wire/cell.h"
#include "keeper/network/nested.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void default_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Ignored by the supervisor, and exec keeps that; the others are as Node gives them to its children. */
	signal(SIGPIPE, SIG_DFL);
}

static void take_stdio(struct stdio stdio)
{
	for (int i = 0; i < 3; i++)
		if (dup2(stdio.at[i], i) < 0)
			die("stdio", NULL);
}

/*
 * A counter of the CPU time of this process and all its descendants, also those
 * that nobody waits for and whose time is otherwise lost. Where it is refused,
 * the supervisor adds up what /proc shows.
 */
static void count_cpu(int supervisor)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	CLOSE_ON_RETURN int counter = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (counter >= 0)
		send_packet(supervisor, PACKET_CLOCK, 0, NULL, counter);
}

static struct command wait_for_command(int host)
{
	struct frame frame;
	struct command command;

	if (!read_frame(host, &frame))
		_exit(EXIT_REFUSED); /* the host gave the cell up before it was used */
	/* Ended while it was built: there is nobody to tell, and nothing to do. */
	if (frame.kind == FRAME_KILL)
		_exit(EXIT_REFUSED);
	errno = EINVAL;
	if (frame.kind != FRAME_COMMAND)
		die("command", "expected a command");
	const char *wrong = parse_command(frame.payload, frame.length, &command);
	if (wrong)
		die("command", wrong);
	return command;
}

/* What of the keeper's work a host may refuse although it grants the listener, as an exit status. */
static int try_listener(const struct plan *plan)
{
	struct sockaddr_un root = { .sun_family = AF_UNIX, .sun_path = "/" };
	CLOSE_ON_RETURN int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!(plan->traps & TRAP_CONNECT))
		return PROBE_HELD;
	if (connect(fd, (struct sockaddr *)&root, sizeof root) == 0 || errno == EFAULT)
		return PROBE_MEMORY_UNREADABLE;
	/* Refused by the kernel itself, because it has no name, when it is really this socket that listens. */
	return listen(fd, 1) < 0 && errno == EINVAL ? PROBE_HELD : PROBE_NOTHING_BORROWED;
}

_Noreturn void become_tool(const struct plan *plan, int host, int supervisor, int keeper, struct stdio stdio)
{
	if (plan->terminal)
		join_terminal(plan, stdio.terminal);
	else if (setsid() < 0)
		die("session", NULL);
	take_stdio(stdio);
	default_signals();
	umask(0022);
	if (chdir(plan->cwd) < 0)
		die("cwd", plan->cwd);
	/* The keeper, as which we were forked, is not to be looked into; but it must read what we hand to a trapped call. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		die("session", "dumpable");
	if (plan->network_nested) {
		CLOSE_ON_RETURN int outer = join_outer_cell(plan);
		send_packet(supervisor, PACKET_OUTER, 0, NULL, outer);
	} else if (plan->form == FORM_LANDLOCK && !plan->traps) {
		/* Without a listener there may be a keeper of an outer cell, who must not act for this tool as for its own. */
		mark_as_nested();
	}
	apply_resource_limits(plan);
	if (plan->limits.cpu)
		count_cpu(supervisor);
	apply_landlock(plan, stdio.terminal);
	int listener = apply_seccomp(plan);
	if (listener >= 0) {
		send_packet(keeper, PACKET_LISTENER, 0, NULL, listener);
		close(listener);
	}
	limit_descriptors(plan);
	send_packet(supervisor, PACKET_LISTENER, landlock_abi(), NULL, -1);

	struct command command = { 0 };
	if (!plan->probe)
		command = wait_for_command(host);
	send_packet(supervisor, PACKET_GO, 0, NULL, -1);
	if (plan->probe)
		_exit(try_listener(plan));
	execve(command.program, command.argv, command.envp);
	die("exec", command.program);
}
