/*
 * The broker: connect() to a granted host.
 *
 * The tool's own socket is connected to one of ours on the loopback, and the other end of that connection is given to
 * the host together with the destination. Nothing of this passes through what the tool can read or write, and nobody
 * else can hand the host a connection: others that connect to our socket are turned away. Programs need not know of any
 * proxy; one that asks for it by its address is given to it in the same way.
 *
 * The proxy judges again, and by more than is known here. What the plan does not let reach it is refused at once.
 *
 * Without a seccomp listener nobody answers connect(). The tool then connects to our socket itself, at the port of the
 * proxy, and each such connection is given to the proxy. A program that knows of no proxy reaches nothing.
 */
#include "keeper/network/broker.h"
#include "keeper/network/stand-in.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

#define NAMES_PORT 53
#define MOST_VISITORS_PER_TURN 16

static struct sockaddr_in loopback_at(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* -1 with errno. */
static int close_with_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

static int bind_loopback(int type, uint16_t port)
{
	struct sockaddr_in address = loopback_at(port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	return close_with_errno(fd);
}

int open_door(uint16_t port, struct sockaddr_in *address)
{
	int door = bind_loopback(SOCK_STREAM | SOCK_NONBLOCK, port);
	socklen_t size = sizeof *address;

	if (door < 0 || (listen(door, SOMAXCONN) == 0 && getsockname(door, (struct sockaddr *)address, &size) == 0))
		return door;
	return close_with_errno(door);
}

bool open_broker(struct broker *broker, const struct plan *plan, int supervisor, struct told *told)
{
	bool enclosed = plan->form == FORM_NAMESPACES;

	if (plan->network_all || (!plan->network_brokered && !enclosed))
		return false;
	*broker = (struct broker){ .plan = plan, .door = -1 };
	begin_questions(&broker->questions, &plan->broker, supervisor, told);
	if (plan->probe)
		return plan->network_brokered;
	if (enclosed)
		broker->questions.datagrams = bind_loopback(SOCK_DGRAM, NAMES_PORT);
	/* Where nothing is granted, names are answered for the sake of programs, which give up on a name that is not
	 * there sooner than on a server that does not answer. And so the report has the name. */
	if (!plan->network_brokered)
		return broker->questions.datagrams >= 0;
	if (enclosed && broker->questions.datagrams < 0)
		die("broker", "cannot bind to the loopback of the cell");
	/* Where the tool has a loopback of its own, nothing else shall be at the port that it is told of. */
	broker->door = open_door(enclosed ? plan->broker.port : 0, &broker->door_address);
	if (broker->door < 0)
		die("broker", "cannot listen on the loopback of the cell");
	return true;
}

enum route {
	ROUTE_AS_ASKED, /* the tool's own loopback */
	ROUTE_PROXY,
	ROUTE_NAMES, /* a stream on which names are asked for */
	ROUTE_NAMES_DATAGRAMS,
	ROUTE_NOWHERE, /* a datagram socket that asks how it would be routed */
	ROUTE_REFUSED,
};

struct destination {
	char host[NAME_ROOM]; /* a name, or an address as text */
	bool is_name;
	bool is_proxy; /* as such: what to reach by it, the tool says itself */
	uint16_t port;
};

/* As an address of IPv6, whichever it is. */
static void widen(const union address *address, uint8_t into[16])
{
	if (address->any.sa_family == AF_INET6)
		memcpy(into, &address->v6.sin6_addr, 16);
	else
		write_mapped(&address->v4.sin_addr, into);
}

static void write_host(const uint8_t wide[16], const char *name, struct destination *into)
{
	into->is_name = name != NULL;
	if (name)
		snprintf(into->host, sizeof into->host, "%s", name);
	else if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)wide))
		inet_ntop(AF_INET, wide + 12, into->host, sizeof into->host);
	else
		inet_ntop(AF_INET6, wide, into->host, sizeof into->host);
}

static enum route route_of(const struct broker *broker, const union address *address, bool is_stream,
			   struct destination *into)
{
	const struct broker_terms *terms = &broker->plan->broker;
	static const uint8_t proxy_address[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	bool enclosed = broker->plan->form == FORM_NAMESPACES;
	uint8_t wide[16];

	*into = (struct destination){ 0 };
	widen(address, wide);
	into->port = ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
	const char *name = name_behind(terms, &broker->questions.names, wide);
	write_host(wide, name, into);
	bool reached = name ? reaches_name(terms, name, into->port) : reaches_address(terms, wide, into->port);
	if (is_stream && reached)
		return ROUTE_PROXY;
	/* That one address: others of the loopback may be somebody else's. */
	into->is_proxy =
		terms->port && is_stream && into->port == terms->port && memcmp(wide, proxy_address, sizeof wide) == 0;
	if (into->is_proxy)
		return ROUTE_PROXY;
	if (is_stand_in_address(terms, wide))
		return is_stream ? ROUTE_REFUSED : ROUTE_NOWHERE;
	/* Whichever server a resolver knows of: we answer. */
	if (into->port == NAMES_PORT && !is_stream && enclosed)
		return ROUTE_NAMES_DATAGRAMS;
	if (into->port == NAMES_PORT && is_stream)
		return ROUTE_NAMES;
	if (is_loopback(address) && enclosed)
		return ROUTE_AS_ASKED;
	return !is_stream && reaches_address(terms, wide, 0) ? ROUTE_NOWHERE : ROUTE_REFUSED;
}

/* Returns the length of the address. */
static socklen_t loopback_for(const struct stand_in *ours, int family, uint16_t port, union address *into)
{
	int no = 0;

	*into = (union address){ .v4 = loopback_at(port) };
	if (family == AF_INET)
		return sizeof into->v4;
	/* Programs that try both families by themselves open sockets for this one alone. */
	setsockopt(ours->socket, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
	*into = (union address){ .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &into->v6.sin6_addr);
	return sizeof into->v6;
}

/* Returns 0 or an error; EINPROGRESS when it takes longer than it should. */
static int connect_soon(const struct stand_in *ours, const union address *to, socklen_t length)
{
	int no = 0, error = 0;
	socklen_t size = sizeof error;

	/* Or nothing would happen before the tool's first byte. */
	setsockopt(ours->socket, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &no, sizeof no);
	error = connect_in_time(ours->socket, &to->any, length);
	if (error != EINPROGRESS)
		return error == EINTR ? EINPROGRESS : error;
	if (poll(&(struct pollfd){ .fd = ours->socket, .events = POLLOUT }, 1, SOON) <= 0)
		return EINPROGRESS;
	error = 0;
	if (getsockopt(ours->socket, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
		return error ? error : errno;
	/* The first call after this says once more that it is connected. It must be ours, not the tool's. */
	error = connect_in_time(ours->socket, &to->any, length);
	return error == EISCONN ? 0 : error == EINTR ? EINPROGRESS : error;
}

static bool is_same_end(const union address *left, const union address *right)
{
	uint8_t wide[2][16];

	widen(left, wide[0]);
	widen(right, wide[1]);
	/* Both families have the port at the same place. */
	return memcmp(wide[0], wide[1], 16) == 0 && left->v4.sin_port == right->v4.sin_port;
}

/* Node uses a descriptor as it gets it: a blocking one would stop the whole process for as long as a tool leaves an
 * answer unread. */
static int accept_end(int door, union address *peer, socklen_t *size)
{
	int most_unread = 256 * 1024;
	int end = accept4(door, &peer->any, size, SOCK_CLOEXEC | SOCK_NONBLOCK);

	/* What a tool leaves unread is held here; without this the kernel lets it grow to megabytes. */
	if (end >= 0)
		setsockopt(end, SOL_SOCKET, SO_SNDBUF, &most_unread, sizeof most_unread);
	return end;
}

/* The other end of a connection that was just made; -1 when there is none. Whoever else came is turned away. */
static int accept_from(int door, int socket)
{
	union address own = { 0 }, peer;
	socklen_t size = sizeof own;

	if (getsockname(socket, &own.any, &size) < 0)
		return -1;
	for (int others = 0; others < SOMAXCONN && poll(&(struct pollfd){ .fd = door, .events = POLLIN }, 1, SOON) > 0;
	     others++) {
		size = sizeof peer;
		int end = accept_end(door, &peer, &size);
		if (end >= 0 && is_same_end(&own, &peer))
			return end;
		if (end >= 0)
			close(end);
	}
	return -1;
}

/* Gives connections to the proxy. In one turn only some: the keeper has more to do, and a tool may make many. */
static void lead_visitors_to_proxy(const struct broker *broker)
{
	for (int visitors = 0; visitors < MOST_VISITORS_PER_TURN; visitors++) {
		union address peer;
		socklen_t size = sizeof peer;
		CLOSE_ON_RETURN int visitor = accept_end(broker->door, &peer, &size);
		if (visitor < 0)
			return;
		offer_packet(broker->questions.supervisor, PACKET_CONNECTION, 0, "proxy", visitor);
	}
}

static void turn_strangers_away(const struct broker *broker)
{
	int stranger;

	while ((stranger = accept4(broker->door, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(stranger);
}

static int lead_to_proxy(const struct notification *call, const struct stand_in *ours, int family,
			 const struct destination *to)
{
	char whom[NAME_ROOM + 8] = "proxy";
	union address door;
	socklen_t length = loopback_for(ours, family, ntohs(call->broker->door_address.sin_port), &door);

	turn_strangers_away(call->broker);
	int error = connect_soon(ours, &door, length);
	if (error)
		return error == EINPROGRESS ? ETIMEDOUT : error;
	CLOSE_ON_RETURN int other_end = accept_from(call->broker->door, ours->socket);
	if (!to->is_proxy)
		snprintf(whom, sizeof whom, "%s %u", to->host, to->port);
	if (other_end < 0 || !offer_packet(call->supervisor, PACKET_CONNECTION, 0, whom, other_end))
		return ECONNREFUSED;
	return ours->descriptor < 0 || put_in_place(call, ours) ? 0 : EACCES;
}

static int begin_to_ask(const struct notification *call, const struct stand_in *ours)
{
	CLOSE_ON_RETURN int stream = begin_conversation(&call->broker->questions, ours->flags);
	struct stand_in place = { .socket = stream, .descriptor = int_argument(call, 0), .flags = O_CLOEXEC };

	return stream < 0 ? errno : put_in_place(call, &place) ? 0 : EACCES;
}

static int refuse(const struct notification *call, const union address *address, const struct destination *to)
{
	char fields[NAME_ROOM + 64];

	snprintf(fields, sizeof fields, "\"family\":\"host\",\"name\":\"%s\",\"port\":%u", to->host, to->port);
	if (to->is_name)
		report_violation(call, "connect", fields);
	else
		report_address_violation(call, "connect", address);
	return ENETUNREACH;
}

int answer_brokered(const struct notification *call, const union address *address, socklen_t length)
{
	int family = 0, type = 0;
	socklen_t size = sizeof family;
	struct stand_in ours;
	struct destination to;
	union address names;

	if (length < (address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6))
		return EINVAL;
	int problem = take_socket(call, &ours);
	CLOSE_ON_RETURN int socket = ours.socket;
	if (problem)
		return problem;
	if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 ||
	    getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return errno;
	if (family != address->any.sa_family && (type == SOCK_STREAM || family == AF_INET))
		return EAFNOSUPPORT;
	switch (route_of(call->broker, address, type == SOCK_STREAM, &to)) {
	case ROUTE_PROXY: return lead_to_proxy(call, &ours, family, &to);
	case ROUTE_NAMES: return begin_to_ask(call, &ours);
	case ROUTE_NAMES_DATAGRAMS:
		length = loopback_for(&ours, family, NAMES_PORT, &names);
		return connect_as_asked(call, &ours, &names, length);
	case ROUTE_AS_ASKED: return connect_as_asked(call, &ours, address, length);
	case ROUTE_NOWHERE: return ENETUNREACH;
	case ROUTE_REFUSED: return refuse(call, address, &to);
	}
	return ENETUNREACH;
}

void watch_broker(struct broker *broker, struct watched *watched)
{
	watch(watched, broker->questions.datagrams, POLLIN);
	watch(watched, broker->door, POLLIN);
	watch_conversations(&broker->questions, watched);
}

const struct pollfd *answer_broker(struct broker *broker, const struct pollfd *polled)
{
	if (polled[0].revents)
		answer_datagram(&broker->questions);
	if (polled[1].revents && broker->plan->network_proxied)
		lead_visitors_to_proxy(broker);
	else if (polled[1].revents)
		turn_strangers_away(broker);
	return hear_conversations(&broker->questions, polled + 2);
}
