/*
 * One connection over the attached stream, in both directions. Each side may send a window of bytes ahead, and more
 * when the other has passed them on. So a connection that nobody reads never holds up the others.
 */
#include "relay/carried.h"
#include "wire/frames.h"
#include "wire/memory.h"
#include "wire/report.h"

#define STREAM_OUT 1
#define CREDIT_STEP (STREAM_WINDOW / 4)

static void put_number(unsigned char *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(number >> (8 * i));
}

struct carried new_carried(uint32_t number, int fd)
{
	return (struct carried){
		.number = number, .fd = fd, .pending = allocate(STREAM_WINDOW, 1), .credit = STREAM_WINDOW
	};
}

/* Waits for the host, which always reads: what it has no room for has no credit. */
void write_stream_frame(char kind, uint32_t number, const void *payload, size_t length)
{
	unsigned char frame[STREAM_HEADER + LARGEST_PIECE];

	frame[0] = (unsigned char)kind;
	put_number(frame + 1, number);
	put_number(frame + 5, (uint32_t)length);
	memcpy(frame + STREAM_HEADER, payload, length);
	if (!write_fully(STREAM_OUT, frame, STREAM_HEADER + length)) {
		perror("cordon-cell: writing to the host");
		_exit(EXIT_REFUSED); /* everything in the container ends with us */
	}
}

void drop_carried(struct carried *stream)
{
	if (stream->fd < 0)
		return;
	close(stream->fd);
	free(stream->pending);
	stream->fd = -1;
	stream->pending = NULL;
}

static void drop_if_done(struct carried *stream)
{
	if (stream->tool_ended && stream->host_ended && stream->length == 0)
		drop_carried(stream);
}

bool take_from_host(struct carried *stream, const char *bytes, size_t length)
{
	if (length > STREAM_WINDOW - stream->length)
		return false;
	if (stream->at > 0) {
		memmove(stream->pending, stream->pending + stream->at, stream->length);
		stream->at = 0;
	}
	memcpy(stream->pending + stream->length, bytes, length);
	stream->length += length;
	feed_carried(stream);
	return true;
}

void end_by_host(struct carried *stream)
{
	stream->host_ended = true;
	feed_carried(stream);
}

void feed_carried(struct carried *stream)
{
	unsigned char credit[4];

	while (stream->length > 0) {
		ssize_t put =
			send(stream->fd, stream->pending + stream->at, stream->length, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			break;
		/* Nobody reads there any more. What the other end wrote before is still to be read. */
		if (put < 0)
			put = (ssize_t)stream->length;
		stream->at += (size_t)put;
		stream->length -= (size_t)put;
		stream->written += (size_t)put;
	}
	if (stream->written >= CREDIT_STEP) {
		put_number(credit, (uint32_t)stream->written);
		write_stream_frame(STREAM_CREDIT, stream->number, credit, sizeof credit);
		stream->written = 0;
	}
	if (stream->host_ended && stream->length == 0)
		shutdown(stream->fd, SHUT_WR);
	drop_if_done(stream);
}

void read_carried(struct carried *stream)
{
	char bytes[LARGEST_PIECE];
	size_t room = stream->credit < sizeof bytes ? stream->credit : sizeof bytes;
	ssize_t got = recv(stream->fd, bytes, room, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		stream->credit -= (size_t)got;
		write_stream_frame(STREAM_DATA, stream->number, bytes, (size_t)got);
		return;
	}
	stream->tool_ended = true;
	write_stream_frame(STREAM_END, stream->number, "", 0);
	drop_if_done(stream);
}

short events_wanted(const struct carried *stream)
{
	return (short)((!stream->tool_ended && stream->credit > 0 ? POLLIN : 0) | (stream->length > 0 ? POLLOUT : 0));
}
