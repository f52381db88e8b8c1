/*
 * The first process of a container. The host is attached to its stdin and stdout, and no socket and no network enter
 * the container. The relay starts one cell, and carries over this attachment what the cell's supervisor says to its
 * host and the connections that its tool is granted.
 *
 * When the attachment ends, or the cell, this process ends. It is the first of its pid namespace, so everything in the
 * container ends with it.
 */
#include "relay/relay.h"
#include "relay/carried.h"
#include "relay/hello.h"
#include "relay/mounts.h"
#include "wire/memory.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#define FROM_HOST 0
/* Each has two windows of memory. A tool that opens more sees an end. */
#define MOST_CARRIED 512
#define FAREWELL_MS 5000

struct relay {
	int channel;
	struct carried *carried; /* the cell's own is the first, and stays */
	size_t count;
	uint32_t last_number;
	char inbox[RELAY_HEADER + LARGEST_PIECE];
	size_t filled;
};

static uint32_t number_at(const char *bytes)
{
	const unsigned char *at = (const unsigned char *)bytes;

	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static _Noreturn void refuse(const char *problem)
{
	fprintf(stderr, "cordon-cell: %s\n", problem);
	_exit(EXIT_REFUSED);
}

static struct carried *carried_of(struct relay *relay, uint32_t number)
{
	for (size_t i = 0; i < relay->count; i++)
		if (relay->carried[i].number == number && relay->carried[i].fd >= 0)
			return &relay->carried[i];
	return NULL; /* it ended here while the host still wrote to it */
}

static void take_frame(struct relay *relay, char kind, uint32_t number, const char *payload, size_t length)
{
	struct carried *carried = carried_of(relay, number);

	if (number == 0 && (kind == RELAY_END || kind == RELAY_CLOSE))
		_exit(0); /* the host gives the cell up */
	if (!carried)
		return;
	switch (kind) {
	case RELAY_DATA:
		if (!take_from_host(carried, payload, length))
			refuse("the host sent more than it had credit for");
		break;
	case RELAY_CREDIT:
		if (length != 4)
			refuse("a credit of another size than four bytes");
		carried->credit += number_at(payload);
		break;
	case RELAY_END: end_by_host(carried); break;
	case RELAY_CLOSE: drop_carried(carried); break;
	default: refuse("a frame of an unknown kind");
	}
}

static void hear_host(struct relay *relay)
{
	ssize_t got = read(FROM_HOST, relay->inbox + relay->filled, sizeof relay->inbox - relay->filled);
	size_t at = 0;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got < 0)
		refuse("reading from the host failed");
	if (got == 0)
		refuse("the host closed its attachment");
	relay->filled += (size_t)got;
	while (relay->filled - at >= RELAY_HEADER) {
		const char *frame = relay->inbox + at;
		size_t length = number_at(frame + 5);
		if (length > LARGEST_PIECE)
			refuse("a frame that is too long");
		if (relay->filled - at < RELAY_HEADER + length)
			break;
		take_frame(relay, frame[0], number_at(frame + 1), frame + RELAY_HEADER, length);
		at += RELAY_HEADER + length;
	}
	relay->filled -= at;
	memmove(relay->inbox, relay->inbox + at, relay->filled);
}

/* Takes away those that are gone, so that the list has the ones in use only. */
static void forget_gone(struct relay *relay)
{
	size_t kept = 1;

	for (size_t i = 1; i < relay->count; i++)
		if (relay->carried[i].fd >= 0)
			relay->carried[kept++] = relay->carried[i];
	relay->count = kept;
}

static void take_connection(struct relay *relay)
{
	struct packet packet;
	int connection;
	ssize_t got = receive_packet(relay->channel, &packet, &connection, NULL);

	if (got <= 0 || connection < 0)
		return;
	if (relay->count >= MOST_CARRIED || got > (ssize_t)LARGEST_PIECE) {
		close(connection);
		return;
	}
	relay->last_number++;
	write_relay_frame(RELAY_OPEN, relay->last_number, &packet, (size_t)got);
	APPEND(relay->carried, relay->count, new_carried(relay->last_number, connection));
}

static void serve(struct relay *relay)
{
	struct pollfd polled[MOST_CARRIED + 2];

	while (relay->carried[0].fd >= 0 && !relay->carried[0].tool_ended) {
		size_t count = relay->count;
		polled[0] = (struct pollfd){ .fd = FROM_HOST, .events = POLLIN };
		polled[1] = (struct pollfd){ .fd = relay->channel, .events = POLLIN };
		for (size_t i = 0; i < count; i++) {
			short events = events_wanted(&relay->carried[i]);
			/* One that hung up says so at every turn, also if nobody wants to read it. */
			polled[i + 2] = (struct pollfd){ .fd = events ? relay->carried[i].fd : -1, .events = events };
		}
		if (poll(polled, (nfds_t)(count + 2), -1) < 0 && errno != EINTR)
			refuse("poll failed");
		if (polled[1].revents & POLLIN)
			take_connection(relay);
		for (size_t i = 0; i < count; i++) {
			struct carried *carried = &relay->carried[i];
			if (carried->fd >= 0 && polled[i + 2].revents & POLLOUT)
				feed_carried(carried);
			if (carried->fd >= 0 && polled[i + 2].revents & (POLLIN | POLLHUP | POLLERR) &&
			    !carried->tool_ended && carried->credit > 0)
				read_carried(carried);
		}
		if (polled[0].revents)
			hear_host(relay);
		forget_gone(relay);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* orphans of the image come to the first process */
	}
}

/* The engine may drop what a container said right before its end, so the host says first that it has read all. */
static void await_farewell(struct relay *relay)
{
	uint64_t until = milliseconds() + FAREWELL_MS;

	for (uint64_t now; (now = milliseconds()) < until;)
		if (poll(&(struct pollfd){ .fd = FROM_HOST, .events = POLLIN }, 1, (int)(until - now)) > 0)
			hear_host(relay);
}

/* The cell gets neither side of the attachment. */
static int run_beneath(run_launcher *run, int host, int channel)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0)
		refuse("no /dev/null in the container");
	close(nothing);
	return run(host, channel);
}

int serve_relay(const char *program, const char *path, run_launcher *run)
{
	struct relay relay = { 0 };
	int host[2], channel[2];

	/* Else the container has no processes of its own, and they would not end with this one. */
	if (getpid() != 1)
		refuse("not the first process of its container");
	signal(SIGPIPE, SIG_IGN);
	close_range(3, ~0U, 0);
	tell_mounts();
	say_hello(program, path);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, host) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
		refuse("no sockets for the cell");
	pid_t cell = fork();
	if (cell < 0)
		refuse("no process for the cell");
	if (cell == 0) {
		close(host[0]);
		close(channel[0]);
		_exit(run_beneath(run, host[1], channel[1]));
	}
	close(host[1]);
	close(channel[1]);
	/* The tool has our user: nothing in the container may look into this process. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		refuse("prctl failed");
	relay.channel = channel[0];
	APPEND(relay.carried, relay.count, new_carried(0, host[0]));
	serve(&relay);
	await_farewell(&relay);
	return 0;
}
