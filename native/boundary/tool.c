/* The steps of the tool's process that are not the boundary itself, see become_tool() in main.c. */
#include "boundary/tool.h"
#include "boundary/join-outer.h"
#include "boundary/new-terminal.h"
#include "wire/frames.h"
#include "wire/packets.h"
#include "wire/read-frame.h"
#include "wire/report.h"
#include "wire/scope.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
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

void count_cpu(int supervisor)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attributes,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	CLOSE_ON_RETURN int counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (counter >= 0)
		send_packet(supervisor, PACKET_CLOCK, 0, NULL, counter);
}

struct command wait_for_command(int host)
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

int try_listener(const struct plan *plan)
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

void begin_tool(const struct plan *plan, struct stdio stdio)
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
	/* The keeper, as which we were forked, is not to be looked into; but it must read what we hand to a trapped
	 * call. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		die("session", "dumpable");
}

void join_outer(const struct plan *plan, int supervisor)
{
	if (plan->network_nested) {
		CLOSE_ON_RETURN int outer = join_outer_cell(plan);
		send_packet(supervisor, PACKET_OUTER, 0, NULL, outer);
	} else if (plan->form == FORM_LANDLOCK && !plan->traps) {
		/* Without a listener there may be a keeper of an outer cell, who must not act for this tool as for its
		 * own. */
		mark_as_nested();
	}
}

void hand_listener(int keeper, int listener)
{
	if (listener < 0)
		return;
	send_packet(keeper, PACKET_LISTENER, 0, NULL, listener);
	close(listener);
}
