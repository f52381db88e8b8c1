/* The tool's process: from fork to exec, the boundary closing step by step. */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void default_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL); /* fails for SIGKILL and SIGSTOP, which have no other */
}

/* A terminal of its own: what the tool writes to it (TIOCSTI, modes) ends there. */
static void open_terminal(int supervisor, struct stdio *stdio)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64];

	if (master < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof name) != 0)
		die("terminal", "cannot open a pseudo terminal");
	int slave = open(name, O_RDWR | O_CLOEXEC);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		die("terminal", name);
	send_packet(supervisor, PACKET_TERMINAL, 0, NULL, master);
	close(master);
	*stdio = (struct stdio){ slave, slave, slave };
}

static void take_stdio(struct stdio stdio)
{
	if (dup2(stdio.in, 0) < 0 || dup2(stdio.out, 1) < 0 || dup2(stdio.err, 2) < 0)
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
	if (setsid() < 0)
		die("session", NULL);
	if (plan->terminal)
		open_terminal(supervisor, &stdio);
	take_stdio(stdio);
	default_signals();
	umask(0022);
	if (chdir(plan->cwd) < 0)
		die("cwd", plan->cwd);
	apply_resource_limits(plan);
	apply_landlock(plan);
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
