/*
 * The nursery: one small process per host process that forks a supervisor for
 * each connection. Forking from here costs a tenth of spawning from Node, and
 * one connection carries what would otherwise be four pipes.
 */
#include "supervisor/nursery.h"
#include "supervisor/wall.h"
#include "wire/frames.h"
#include "wire/report.h"

#include <sys/un.h>

#define LIFELINE 3 /* closes when the host process ends, however it ends */
#define CHANNEL 4 /* where Node takes descriptors; each launcher writes to it, and its answers are nobody's */

/* An abstract name: no file that could stay behind. Who may connect is asked of the kernel, below. */
static int listen_on(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (length + 1 > sizeof address.sun_path || fd < 0)
		return -1;
	memcpy(address.sun_path + 1, name, length);
	if (bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) <
		    0 ||
	    listen(fd, 1024) < 0)
		return -1;
	return fd;
}

static bool comes_from(int connection, pid_t host)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == host &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* Node acknowledges every descriptor. */
static bool drop_answers(void)
{
	char ignored[4096];
	ssize_t got = recv(CHANNEL, ignored, sizeof ignored, MSG_DONTWAIT);

	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

int serve_nursery(char *name, run_launcher *run)
{
	pid_t host = getppid();

	/* What the embedding program left open without close-on-exec is no cell's business. */
	close_range(CHANNEL + 1, ~0U, 0);
	int listener = listen_on(name);

	if (listener < 0) {
		perror("cordon-cell: nursery");
		return EXIT_REFUSED;
	}
	memset(name, 0, strlen(name)); /* nobody else needs to see it in our command line */
	fcntl(LIFELINE, F_SETFD, FD_CLOEXEC);
	fcntl(CHANNEL, F_SETFD, FD_CLOEXEC);
	signal(SIGCHLD, SIG_IGN);
	/* The terminal's signals are the host's to handle. */
	setsid();
	if (!write_fully(LIFELINE, "ready\n", 6))
		return EXIT_REFUSED;
	for (;;) {
		struct pollfd polled[] = { { .fd = listener, .events = POLLIN },
					   { .fd = LIFELINE, .events = POLLIN },
					   { .fd = CHANNEL, .events = POLLIN } };
		if (poll(polled, 3, -1) < 0 && errno != EINTR)
			return EXIT_REFUSED;
		/* Node closes its channel with everything else. */
		if (polled[1].revents || (polled[2].revents && !drop_answers()))
			return 0;
		if (!(polled[0].revents & POLLIN))
			continue;
		int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (connection < 0)
			continue;
		if (!comes_from(connection, host)) {
			close(connection);
			continue;
		}
		pid_t child = fork();
		if (child == 0) {
			signal(SIGCHLD, SIG_DFL);
			/* The kernel shares processors among sessions (autogroup): a cell that keeps its keeper busy
			 * then takes no share of other cells. */
			setsid();
			close(listener);
			close(LIFELINE);
			if (asks_for_wall(connection))
				run_wall(connection, CHANNEL);
			_exit(run(connection, CHANNEL));
		}
		if (child < 0) {
			report_to(connection);
			report_event(
				"{\"event\":\"error\",\"stage\":\"nursery\",\"errno\":%d,\"error\":\"%s\",\"detail\":\"fork\"}",
				errno, strerror(errno));
		}
		close(connection);
	}
}
