/*
 * The door of the local host. Node can neither ask who connects (SO_PEERCRED) nor take a descriptor from another
 * process but by the channel of its children, so this process accepts, checks and hands over. It ends with its host.
 */
#include "front/door.h"
#include "front/host-place.h"
#include "front/peer.h"
#include "wire/frames.h"
#include "wire/memory.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <sys/file.h>

#define LIFELINE 3 /* closes when the host ends, however it ends */
#define CHANNEL 4 /* where Node takes descriptors; nobody needs what it answers there */
#define LOCK ".lock"
/* Another host of this build listens. */
#define EXIT_SERVED 3

static const struct {
	const char *ending;
	int type;
} PURPOSES[] = { { FOR_REQUEST, SOCK_STREAM }, { FOR_CELL, SOCK_STREAM }, { FOR_CHANNEL, SOCK_SEQPACKET } };
enum { CHANNELS = COUNT_OF(PURPOSES) - 1 };

/* The only line that a launcher sends on its channel begins so (supervisor/streams/channel.c). */
#define PARCEL "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"cordon\":\""

/* Everything that is waited for: the ends of the host first, then the listeners, then the channels of launchers. */
struct door {
	struct pollfd *polled;
	size_t count;
	struct stand own;
};
#define MOST_POLLED 512
enum { LIFELINE_AT, CHANNEL_AT, FIRST_LISTENER, FIRST_CHANNEL = FIRST_LISTENER + COUNT_OF(PURPOSES) };

/* Held for as long as we live, so that nobody removes the socket of a host that listens. */
static bool lock_place(const char *build)
{
	struct sockaddr_un lock;

	if (!find_host(build, LOCK, &lock))
		return false;
	int fd = open(lock.sun_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat locked, named;
	/* A door that ends removes it, perhaps between our two calls. */
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &locked) == 0 &&
	       lstat(lock.sun_path, &named) == 0 && locked.st_ino == named.st_ino;
}

static int listen_for(size_t purpose, const char *build)
{
	struct sockaddr_un address;
	int fd = find_host(build, PURPOSES[purpose].ending, &address)
			 ? socket(AF_UNIX, PURPOSES[purpose].type | SOCK_CLOEXEC, 0)
			 : -1;

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
		if (find_host(build, PURPOSES[i].ending, &address))
			unlink(address.sun_path);
	if (find_host(build, LOCK, &address))
		unlink(address.sun_path);
}

/* Node acknowledges every descriptor. */
static bool drop_answers(void)
{
	char ignored[4096];
	ssize_t got = recv(CHANNEL, ignored, sizeof ignored, MSG_DONTWAIT);

	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static void wait_for(struct door *door, int fd)
{
	APPEND(door->polled, door->count, ((struct pollfd){ fd, POLLIN, 0 }));
}

/* A client that is not let in sees its end, and goes another way. */
static void let_in(struct door *door, int listener, size_t purpose)
{
	char line[128];
	struct peer peer;
	CLOSE_ON_RETURN int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (connection < 0 || !find_peer_beside(&door->own, connection, &peer))
		return;
	close(peer.process);
	if (purpose == CHANNELS) {
		if (door->count < MOST_POLLED && send(connection, "", 1, MSG_NOSIGNAL) == 1) {
			wait_for(door, connection);
			connection = -1;
		}
		return;
	}
	int length =
		snprintf(line, sizeof line,
			 "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"pid\":%d,\"purpose\":\"%s\"}}\n",
			 peer.pid, PURPOSES[purpose].ending);
	send_along(CHANNEL, line, length, connection, MSG_DONTWAIT);
}

/* A token and a destination, and nothing that could end their texts early. */
static bool is_parcel(const char *line)
{
	const char *at = line + strlen(PARCEL), *middle = "\",\"to\":\"";

	if (strncmp(line, PARCEL, strlen(PARCEL)) != 0)
		return false;
	at += strspn(at, "0123456789abcdefABCDEF-");
	if (strncmp(at, middle, strlen(middle)) != 0)
		return false;
	at += strlen(middle);
	for (; *at > ' ' ? *at < 127 && *at != '"' && *at != '\\' : *at == ' '; at++)
		;
	return strcmp(at, "\"}}\n") == 0;
}

/* Hands a connection of a tool to the host, which may be busy. False when its launcher is gone. */
static bool pass_on(int channel)
{
	char line[512];
	CLOSE_ON_RETURN int connection = -1;
	ssize_t got = receive_along(channel, line, sizeof line - 1, &connection, NULL);

	if (got <= 0)
		return got < 0 && errno == EAGAIN;
	line[got] = '\0';
	if (connection >= 0 && is_parcel(line))
		send_along(CHANNEL, line, got, connection, 0);
	return true;
}

static void pass_all_on(struct door *door)
{
	size_t kept = FIRST_CHANNEL;

	for (size_t i = FIRST_CHANNEL; i < door->count; i++) {
		if (door->polled[i].revents && !pass_on(door->polled[i].fd))
			close(door->polled[i].fd);
		else
			door->polled[kept++] = door->polled[i];
	}
	door->count = kept;
}

int serve_door(const char *build)
{
	struct door door = { 0 };
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
	if (!look_at_ourselves(&door.own)) {
		fputs("it cannot be told apart from a process in a cell", stderr);
		return EXIT_REFUSED;
	}
	if (!lock_place(build))
		return EXIT_SERVED;
	wait_for(&door, LIFELINE);
	wait_for(&door, CHANNEL);
	for (size_t i = 0; i < COUNT_OF(PURPOSES); i++) {
		int listener = listen_for(i, build);
		if (listener < 0)
			return EXIT_REFUSED;
		wait_for(&door, listener);
	}
	if (!write_fully(LIFELINE, "ready\n", 6))
		return EXIT_REFUSED;
	for (;;) {
		if (poll(door.polled, door.count, -1) < 0 && errno != EINTR)
			return EXIT_REFUSED;
		if (door.polled[LIFELINE_AT].revents || (door.polled[CHANNEL_AT].revents && !drop_answers())) {
			stop_listening(build);
			return 0;
		}
		pass_all_on(&door);
		for (size_t i = 0; i < COUNT_OF(PURPOSES); i++)
			if (door.polled[FIRST_LISTENER + i].revents & POLLIN)
				let_in(&door, door.polled[FIRST_LISTENER + i].fd, i);
	}
}
