/*
 * One connection over the attachment, in both directions. Each side may send a window of bytes ahead, and more
 * when the other has passed them on. So a connection that nobody reads never holds up the others.
 */
#include "relay/carried.h"
#include "wire/frames.h"
#include "wire/memory.h"
#include "wire/report.h"

#define TO_HOST 1
#define CREDIT_STEP (RELAY_WINDOW / 4)

static void put_number(unsigned char *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(number >> (8 * i));
}

struct carried new_carried(uint32_t number, int fd)
{
	return (struct carried){
		.number = number, .fd = fd, .pending = allocate(RELAY_WINDOW, 1), .credit = RELAY_WINDOW
	};
}

/* Waits for the host, which always reads: what it has no room for has no credit. */
void write_relay_frame(char kind, uint32_t number, const void *payload, size_t length)
{
	unsigned char frame[RELAY_HEADER + LARGEST_PIECE];

	frame[0] = (unsigned char)kind;
	put_number(frame + 1, number);
	put_number(frame + 5, (uint32_t)length);
	memcpy(frame + RELAY_HEADER, payload, length);
	if (!write_fully(TO_HOST, frame, RELAY_HEADER + length)) {
		perror("cordon-cell: writing to the host");
		_exit(EXIT_REFUSED); /* everything in the container ends with us */
	}
}

void drop_carried(struct carried *carried)
{
	if (carried->fd < 0)
		return;
	close(carried->fd);
	free(carried->pending);
	carried->fd = -1;
	carried->pending = NULL;
}

static void drop_if_done(struct carried *carried)
{
	if (carried->tool_ended && carried->host_ended && carried->length == 0)
		drop_carried(carried);
}

bool take_from_host(struct carried *carried, const char *bytes, size_t length)
{
	if (length > RELAY_WINDOW - carried->length)
		return false;
	if (carried->at > 0) {
		memmove(carried->pending, carried->pending + carried->at, carried->length);
		carried->at = 0;
	}
	memcpy(carried->pending + carried->length, bytes, length);
	carried->length += length;
	feed_carried(carried);
	return true;
}

void end_by_host(struct carried *carried)
{
	carried->host_ended = true;
	feed_carried(carried);
}

void feed_carried(struct carried *carried)
{
	unsigned char credit[4];

	while (carried->length > 0) {
		ssize_t put =
			send(carried->fd, carried->pending + carried->at, carried->length, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			break;
		/* Nobody reads there any more. What the other end wrote before is still to be read. */
		if (put < 0)
			put = (ssize_t)carried->length;
		carried->at += (size_t)put;
		carried->length -= (size_t)put;
		carried->written += (size_t)put;
	}
	if (carried->written >= CREDIT_STEP) {
		put_number(credit, (uint32_t)carried->written);
		write_relay_frame(RELAY_CREDIT, carried->number, credit, sizeof credit);
		carried->written = 0;
	}
	if (carried->host_ended && carried->length == 0)
		shutdown(carried->fd, SHUT_WR);
	drop_if_done(carried);
}

void read_carried(struct carried *carried)
{
	char bytes[LARGEST_PIECE];
	size_t room = carried->credit < sizeof bytes ? carried->credit : sizeof bytes;
	ssize_t got = recv(carried->fd, bytes, room, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		carried->credit -= (size_t)got;
		write_relay_frame(RELAY_DATA, carried->number, bytes, (size_t)got);
		return;
	}
	carried->tool_ended = true;
	write_relay_frame(RELAY_END, carried->number, "", 0);
	drop_if_done(carried);
}

short events_wanted(const struct carried *carried)
{
	return (short)((!carried->tool_ended && carried->credit > 0 ? POLLIN : 0) |
		       (carried->length > 0 ? POLLOUT : 0));
}
