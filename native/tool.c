/* The tool's process: from fork to exec, the boundary closing step by step. */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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

static struct command wait_for_command(int host)
{
	struct frame frame;
	struct command command;

	if (!read_frame(host, &frame))
		_exit(EXIT_REFUSED); /* the host gave the cell up before it was used */
	errno = EINVAL;
	if (frame.kind != FRAME_COMMAND)
		die("command", "expected a command");
	const char *wrong = parse_command(frame.payload, frame.length, &command);
	if (wrong)
		die("command", wrong);
	return command;
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
	/* The keeper reads what this process hands to a trapped call, from its first exec on; nobody else is here yet. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		die("session", "dumpable");
	apply_resource_limits(plan);
	apply_landlock(plan, stdio.terminal);
	int listener = apply_seccomp(plan);
	if (listener >= 0) {
		send_packet(keeper, PACKET_LISTENER, 0, NULL, listener);
		close(listener);
	}
	send_packet(supervisor, PACKET_LISTENER, landlock_abi(), NULL, -1);

	struct command command = { 0 };
	if (!plan->probe)
		command = wait_for_command(host);
	send_packet(supervisor, PACKET_GO, 0, NULL, -1);
	if (plan->probe)
		_exit(0);
	execve(command.program, command.argv, command.envp);
	die("exec", command.program);
}
