/*
 * Not an attack: the host's services that attacks try to reach, on loopback
 * and in FOLDER. Prints where they listen as one JSON line; at the end of its
 * input it prints what reached them, and ends.
 *
 * Usage: host-listeners FOLDER NAME     (abstract names are NAME-stream and NAME-datagram)
 */
#include "route.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { TCP, TCP6, UDP, UDP6, STREAM, DATAGRAM, ABSTRACT, ABSTRACT_DATAGRAM, COUNT };

static const char *const names[COUNT] = { "tcp", "tcp6", "udp", "udp6", "unix", "unixDatagram", "abstract", "abstractDatagram" };
static int fds[COUNT];
static long arrivals[COUNT];

static bool is_stream(int which) { return which == TCP || which == TCP6 || which == STREAM || which == ABSTRACT; }

static void serve(int which, int fd)
{
	fds[which] = fd;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (is_stream(which) && listen(fd, 1024) < 0) unable(names[which]);
}

static in_port_t bind_inet(int which, int type, in_port_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int fd = socket(AF_INET, type, 0);
	if (bind(fd, (struct sockaddr *)&address, length) < 0) unable(names[which]);
	getsockname(fd, (struct sockaddr *)&address, &length);
	serve(which, fd);
	return address.sin_port;
}

/* The same port as the IPv4 one; a host without IPv6 has nothing there to attack. */
static void bind_inet6(int which, int type, in_port_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int on = 1, fd = socket(AF_INET6, type, 0);
	if (fd >= 0) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fds[which] = -1;
	else serve(which, fd);
}

static void bind_unix(int which, int type, bool is_abstract, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);
	if (strlen(path) + 2 > sizeof address.sun_path) unable("the socket's path is too long");
	strcpy(address.sun_path + is_abstract, path);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(path) + !is_abstract);
	if (bind(fd, (struct sockaddr *)&address, length) < 0) unable(path);
	if (!is_abstract) chmod(path, 0777);
	serve(which, fd);
}

static void welcome(int which)
{
	char bytes[256];
	if (!is_stream(which)) {
		while (recv(fds[which], bytes, sizeof bytes, 0) >= 0) arrivals[which]++;
		return;
	}
	for (int peer; (peer = accept(fds[which], NULL, NULL)) >= 0; close(peer)) {
		arrivals[which]++;
		if (send(peer, "SECRET of the host's service\n", 29, MSG_NOSIGNAL) < 0) continue;
	}
}

int main(int count, char **words)
{
	struct pollfd waits[COUNT + 1];
	if (count != 3) return 64;
	in_port_t tcp = bind_inet(TCP, SOCK_STREAM, 0), udp = bind_inet(UDP, SOCK_DGRAM, 0);
	bind_inet6(TCP6, SOCK_STREAM, tcp);
	bind_inet6(UDP6, SOCK_DGRAM, udp);
	bind_unix(STREAM, SOCK_STREAM, false, path_of("%s/stream", words[1]));
	bind_unix(DATAGRAM, SOCK_DGRAM, false, path_of("%s/datagram", words[1]));
	bind_unix(ABSTRACT, SOCK_STREAM, true, path_of("%s-stream", words[2]));
	bind_unix(ABSTRACT_DATAGRAM, SOCK_DGRAM, true, path_of("%s-datagram", words[2]));
	printf("{\"tcp\":%d,\"udp\":%d}\n", ntohs(tcp), ntohs(udp));
	fflush(stdout);

	for (;;) {
		char byte;
		for (int i = 0; i < COUNT; i++) waits[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		waits[COUNT] = (struct pollfd){ .fd = 0, .events = POLLIN };
		if (poll(waits, COUNT + 1, -1) < 0) unable("poll");
		for (int i = 0; i < COUNT; i++) if (waits[i].revents) welcome(i);
		if (waits[COUNT].revents && read(0, &byte, 1) <= 0) break;
	}
	printf("{");
	for (int i = 0; i < COUNT; i++) printf("%s\"%s\":%ld", i ? "," : "", names[i], arrivals[i]);
	printf("}\n");
	return 0;
}
