/*
 * The door of the local host. Node can neither ask who connects (SO_PEERCRED) nor take a descriptor from another
 * process but by the channel of its children, so this process accepts, checks and hands over. It ends with its host.
 */
#include "front/door.h"
#include "front/host-place.h"
#include "front/peer.h"
#include "wire/frames.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <sys/file.h>

#define LIFELINE 3 /* closes when the host ends, however it ends */
#define CHANNEL 4 /* where Node takes descriptors; its answers are nobody's */
/* Another host of this build listens. */
#define EXIT_SERVED 3

static const char *const PURPOSES[] = { FOR_REQUEST, FOR_CELL };

/* Held for as long as we live, so that nobody removes the socket of a host that listens. */
static bool lock_place(const char *build)
{
	struct sockaddr_un lock;

	if (!find_host(build, ".lock", &lock))
		return false;
	int fd = open(lock.sun_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static int listen_for(const char *purpose, const char *build)
{
	struct sockaddr_un address;
	int fd = find_host(build, purpose, &address) ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0)
		return -1;
	/* Of a host that was killed: we hold its lock. */
	unlink(address.sun_path);
	return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 128) == 0 ? fd : -1;
}

static void stop_listening(const char *build)
{
	struct sockaddr_un address;

	for (size_t i = 0; i < COUNT_OF(PURPOSES); i++)
		if (find_host(build, PURPOSES[i], &address))
			unlink(address.sun_path);
}

/* Node acknowledges every descriptor. */
static bool drop_answers(void)
{
	char ignored[4096];
	ssize_t got = recv(CHANNEL, ignored, sizeof ignored, MSG_DONTWAIT);

	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* A client that is not let in sees its end, and goes another way. */
static void let_in(int listener, const char *purpose)
{
	char line[128];
	CLOSE_ON_RETURN int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid = connection < 0 ? -1 : peer_beside_us(connection);

	if (pid < 0)
		return;
	int length =
		snprintf(line, sizeof line,
			 "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"pid\":%d,\"purpose\":\"%s\"}}\n",
			 pid, purpose);
	send_along(CHANNEL, line, length, connection, MSG_DONTWAIT);
}

int serve_door(const char *build)
{
	struct pollfd polled[COUNT_OF(PURPOSES) + 2];
	struct sockaddr_un address;

	close_range(CHANNEL + 1, ~0U, 0);
	fcntl(LIFELINE, F_SETFD, FD_CLOEXEC);
	fcntl(CHANNEL, F_SETFD, FD_CLOEXEC);
	umask(077);
	make_host_folder();
	if (!find_host(build, FOR_REQUEST, &address)) {
		fputs("the folder of its socket is not this user's alone", stderr);
		return EXIT_REFUSED;
	}
	if (!lock_place(build))
		return EXIT_SERVED;
	for (size_t i = 0; i < COUNT_OF(PURPOSES); i++)
		if ((polled[i] = (struct pollfd){ listen_for(PURPOSES[i], build), POLLIN, 0 }).fd < 0)
			return EXIT_REFUSED;
	struct pollfd *lifeline = polled + COUNT_OF(PURPOSES), *channel = lifeline + 1;
	*lifeline = (struct pollfd){ LIFELINE, POLLIN, 0 };
	*channel = (struct pollfd){ CHANNEL, POLLIN, 0 };
	if (!write_fully(LIFELINE, "ready\n", 6))
		return EXIT_REFUSED;
	for (;;) {
		if (poll(polled, COUNT_OF(polled), -1) < 0 && errno != EINTR)
			return EXIT_REFUSED;
		if (lifeline->revents || (channel->revents && !drop_answers())) {
			stop_listening(build);
			return 0;
		}
		for (size_t i = 0; i < COUNT_OF(PURPOSES); i++)
			if (polled[i].revents & POLLIN)
				let_in(polled[i].fd, PURPOSES[i]);
	}
}
