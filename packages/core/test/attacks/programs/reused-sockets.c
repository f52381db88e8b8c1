/*
 * Reaches a port that is not granted by way of one that is: by changing the
 * address while connect() looks at it, or by using a socket again that was
 * connected before. Usage: reused-sockets GRANTED_PORT OTHER_PORT UDP_PORT ROUNDS
 * All are listeners of the host on 127.0.0.1.
 */
#include "route.h"
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

static in_port_t granted, other, datagrams;
static long rounds;

static struct sockaddr_in at(in_port_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int connect_to(int fd, in_port_t port)
{
	struct sockaddr_in address = at(port);
	return connect(fd, (struct sockaddr *)&address, sizeof address);
}

/* Whom it is connected to, as far as this side can know. */
static bool leads_to_other(int fd)
{
	struct sockaddr_in peer;
	socklen_t length = sizeof peer;
	return getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sin_port == other && send(fd, "planted\n", 8, MSG_NOSIGNAL) == 8;
}

static int dissolve(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	return connect(fd, &none, sizeof none);
}

static int stream(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) unable("socket");
	return fd;
}

static void *flip(void *memory)
{
	volatile in_port_t *port = memory;
	for (;;) {
		*port = other;
		*port = granted;
	}
	return NULL;
}

static struct sockaddr_in *flipping(void)
{
	struct sockaddr_in *address = malloc(sizeof *address);
	pthread_t thread;
	if (!address) abort();
	*address = at(granted);
	if (pthread_create(&thread, NULL, flip, &address->sin_port) != 0) unable("thread");
	return address;
}

static int race_the_address(void)
{
	struct sockaddr_in *address = flipping();
	for (long i = 0; i < rounds; i++) {
		int fd = stream();
		if (connect(fd, (struct sockaddr *)address, sizeof *address) == 0 && leads_to_other(fd)) return 0;
		close(fd);
	}
	return NOTHING;
}

static int race_without_waiting(void)
{
	struct sockaddr_in *address = flipping();
	for (long i = 0; i < rounds; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd, (struct sockaddr *)address, sizeof *address);
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		if (poll(&wait, 1, 2000) == 1 && leads_to_other(fd)) return 0;
		close(fd);
	}
	return NOTHING;
}

static int after_dissolving(void)
{
	int fd = stream();
	TRY(connect_to(fd, granted));
	TRY(dissolve(fd));
	TRY(connect_to(fd, other));
	return leads_to_other(fd) ? 0 : NOTHING;
}

static int by_duplicate(void)
{
	int fd = stream(), again = dup(fd);
	TRY(connect_to(fd, granted));
	TRY(dissolve(again));
	TRY(connect_to(again, other));
	return leads_to_other(fd) ? 0 : NOTHING;
}

static int after_shutdown(void)
{
	int fd = stream();
	TRY(connect_to(fd, granted));
	TRY(shutdown(fd, SHUT_RDWR));
	TRY(dissolve(fd));
	TRY(connect_to(fd, other));
	return leads_to_other(fd) ? 0 : NOTHING;
}

static void pass(int channel, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = "" };
	struct iovec byte = { "x", 1 };
	struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	if (sendmsg(channel, &message, 0) != 1) unable("sendmsg");
}

static int taken_from(int channel)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
	int fd = -1;
	if (recvmsg(channel, &message, 0) != 1 || !CMSG_FIRSTHDR(&message)) unable("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return fd;
}

/* The descriptor has another number in the process that connects it. */
static int by_another_process(void)
{
	int ends[2], fd = stream();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) unable("socketpair");
	TRY(connect_to(fd, granted));
	pid_t child = fork();
	if (child == 0) {
		int passed = taken_from(ends[1]);
		_exit(dissolve(passed) < 0 || connect_to(passed, other) < 0 ? errno : 0);
	}
	int status;
	pass(ends[0], fd);
	waitpid(child, &status, 0);
	if (WEXITSTATUS(status)) return WEXITSTATUS(status);
	return leads_to_other(fd) ? 0 : NOTHING;
}

static void *connect_elsewhere(void *fd)
{
	for (long i = 0; i < 200; i++) connect_to(*(int *)fd, other);
	return NULL;
}

/* Two threads want one socket connected, each somewhere else. */
static int by_two_threads(void)
{
	for (long i = 0; i < rounds / 100 + 1; i++) {
		int fd = stream();
		pthread_t thread;
		if (pthread_create(&thread, NULL, connect_elsewhere, &fd) != 0) unable("thread");
		/* A thread takes a while to begin: by turns it has a head start, so that either may be first. */
		if (i % 2) usleep(i % 100);
		connect_to(fd, granted);
		pthread_join(thread, NULL);
		if (leads_to_other(fd)) return 0;
		close(fd);
	}
	return NOTHING;
}

/* The number of the descriptor becomes another socket's while the call is on its way. */
static int by_exchange(void)
{
	for (long i = 0; i < rounds / 100 + 1; i++) {
		int fd = stream(), kept = dup(fd), second = stream();
		pthread_t thread;
		if (pthread_create(&thread, NULL, connect_elsewhere, &fd) != 0) unable("thread");
		if (i % 2) usleep(i % 100);
		connect_to(second, granted);
		dup2(second, fd);
		pthread_join(thread, NULL);
		if (leads_to_other(fd) || leads_to_other(kept)) return 0;
		close(fd);
		close(kept);
		close(second);
	}
	return NOTHING;
}

/* Sent with an address, whatever a stream was connected to. */
static int by_address_of_message(void)
{
	struct sockaddr_in address = at(datagrams);
	struct iovec bytes = { "planted\n", 8 };
	struct mmsghdr messages[2] = { { .msg_hdr = { .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &bytes, .msg_iovlen = 1 } } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	TRY(fd);
	messages[1] = messages[0];
	TRY(sendto(fd, "planted\n", 8, 0, (struct sockaddr *)&address, sizeof address));
	TRY(sendmsg(fd, &messages[0].msg_hdr, 0));
	TRY(sendmmsg(fd, messages, 2, 0));
	return 0;
}

int main(int count, char **words)
{
	if (count != 5) return 64;
	granted = htons((uint16_t)strtol(words[1], NULL, 10));
	other = htons((uint16_t)strtol(words[2], NULL, 10));
	datagrams = htons((uint16_t)strtol(words[3], NULL, 10));
	rounds = strtol(words[4], NULL, 10);
	route("address-rewritten", race_the_address);
	route("address-rewritten-nonblocking", race_without_waiting);
	route("dissolved", after_dissolving);
	route("dissolved-duplicate", by_duplicate);
	route("shut-down", after_shutdown);
	route("passed", by_another_process);
	route("two-threads", by_two_threads);
	route("exchanged", by_exchange);
	route("message-address", by_address_of_message);
	return 0;
}
