#include "front/start-launcher.h"
#include "front/host-place.h"
#include "wire/launcher.h"
#include "wire/report.h"

#include <sys/prctl.h>
#include <sys/wait.h>

/* Where a launcher has its host, and its channel. */
enum { HOST_AT = 3, CHANNEL_AT = 4, ABOVE = 5 };

static _Noreturn void become_launcher(pid_t front, int cell, int channel, const sigset_t *mask)
{
	char *const words[] = { LAUNCHER_NAME, channel < 0 ? NULL : "channel", NULL }, *const none[] = { NULL };

	/* A session of its own, because this process handles the signals of the terminal; and none of our variables. */
	setsid();
	/* The cell ends with us, also while the host is stopped. */
	if (prctl(PR_SET_PDEATHSIG, CALLER_ENDED) < 0 || getppid() != front)
		_exit(EXIT_REFUSED);
	/* As Node has it for what it starts: what our caller ignores is nothing that a command ignores. */
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	cell = fcntl(cell, F_DUPFD_CLOEXEC, ABOVE);
	if (channel >= 0)
		channel = fcntl(channel, F_DUPFD_CLOEXEC, ABOVE);
	if (dup2(cell, HOST_AT) == HOST_AT && (channel < 0 || dup2(channel, CHANNEL_AT) == CHANNEL_AT))
		execve("/proc/self/exe", words, none);
	_exit(EXIT_REFUSED);
}

/* The waiting times are ours: a launcher waits as long as it has to. */
static bool waits_without_end(int connection)
{
	struct timeval none = { 0 };

	return setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) == 0 &&
	       setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0;
}

/* The door says so by one byte. It may have too many channels. */
static bool is_accepted(int channel)
{
	char byte;

	return recv(channel, &byte, 1, 0) == 1;
}

pid_t start_launcher(struct local_host *host, bool with_channel, const sigset_t *mask)
{
	CLOSE_ON_RETURN int cell = connect_to_host(host, FOR_CELL, SOCK_STREAM);
	CLOSE_ON_RETURN int channel = with_channel ? connect_to_host(host, FOR_CHANNEL, SOCK_SEQPACKET) : -1;

	if (cell < 0 || !waits_without_end(cell) ||
	    (with_channel && (channel < 0 || !is_accepted(channel) || !waits_without_end(channel))))
		return -1;
	pid_t front = getpid(), launcher = fork();
	if (launcher == 0)
		become_launcher(front, cell, channel, mask);
	return launcher;
}

void end_launcher(pid_t *launcher)
{
	if (*launcher <= 0)
		return;
	kill(*launcher, SIGKILL);
	while (waitpid(*launcher, NULL, 0) < 0 && errno == EINTR)
		;
	*launcher = -1;
}
