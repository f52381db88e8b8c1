/*
 * Not an attack: runs a command with a terminal of its own, as a shell would,
 * and tells afterwards what was typed into that terminal by somebody else.
 * Prints what the command printed, then {"typed":COUNT,"status":EXIT}.
 *
 * Usage: terminal-host COMMAND ARGUMENT...
 */
#include "route.h"
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <utmp.h>

int main(int count, char **words)
{
	int master, slave, other_master, other_slave, status = 0, waiting = 0;
	if (count < 2) return 64;
	if (openpty(&master, &slave, NULL, NULL, NULL) < 0) unable("openpty");
	/* Somebody else's terminal, for the command to look for. */
	if (openpty(&other_master, &other_slave, NULL, NULL, NULL) < 0) unable("openpty");
	struct termios raw;
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	pid_t child = fork();
	if (child < 0) unable("fork");
	if (child == 0) {
		close(master);
		close(other_master);
		close(other_slave);
		login_tty(dup(slave));
		execvp(words[1], words + 1);
		_exit(127);
	}
	for (;;) {
		char bytes[4096];
		struct pollfd wait = { .fd = master, .events = POLLIN };
		bool ended = waitpid(child, &status, WNOHANG) == child;
		/* What was printed before the end is still there to be read. */
		while (poll(&wait, 1, ended ? 50 : 100) > 0 && wait.revents & POLLIN) {
			ssize_t length = read(master, bytes, sizeof bytes);
			if (length <= 0) break;
			fwrite(bytes, 1, (size_t)length, stdout);
		}
		if (ended) break;
	}
	/* Bytes that nobody here wrote to the master, but that its reader would get. */
	fcntl(slave, F_SETFL, O_NONBLOCK);
	for (char byte; read(slave, &byte, 1) == 1;) waiting++;
	printf("\n{\"typed\":%d,\"status\":%d}\n", waiting, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
