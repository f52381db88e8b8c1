/* The terminal that a tool gets in place of the caller's; see supervisor/streams/terminal.c for why. */
#include "boundary/new-terminal.h"
#include "wire/packets.h"
#include "wire/report.h"

static void treat_keys(void (*way)(int))
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU };

	for (size_t i = 0; i < COUNT_OF(numbers); i++)
		signal(numbers[i], way);
}

void open_terminal(int supervisor, const struct plan *plan, struct stdio *tool)
{
	char name[64];

	/* As the session's leader we outlive what its keys can do. */
	treat_keys(SIG_IGN);
	if (setsid() < 0)
		die("session", NULL);
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof name) != 0)
		die("terminal", "cannot open a pseudo terminal");
	tool->terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tool->terminal < 0 || ioctl(tool->terminal, TIOCSCTTY, 0) < 0)
		die("terminal", name);
	for (int i = 0; i < 3; i++) {
		if (plan->streams[i] != STREAM_TERMINAL)
			continue;
		tool->at[i] = fcntl(tool->terminal, F_DUPFD_CLOEXEC, FIRST_OF_OURS);
		if (tool->at[i] < 0)
			die("terminal", name);
	}
	send_packet(supervisor, PACKET_TERMINAL, 0, NULL, master);
	close(master);
}

void join_terminal(const struct plan *plan, int terminal)
{
	if (setpgid(0, 0) < 0 || (plan->foreground && tcsetpgrp(terminal, getpgrp()) < 0))
		die("terminal", "cannot become its foreground");
	treat_keys(SIG_DFL);
}
