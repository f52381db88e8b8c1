/* Reading frames from the host connection. */
#include "wire/read-frame.h"
#include "wire/memory.h"

/* `may_end`: once the waiting time of the socket is over. */
static bool read_fully(int fd, void *bytes, size_t length, bool may_end)
{
	char *at = bytes;

	while (length > 0) {
		ssize_t got = read(fd, at, length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN && !may_end) {
			/* libuv makes its end of a shared description non-blocking. */
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
			continue;
		}
		if (got <= 0)
			return false;
		at += got;
		length -= got;
	}
	return true;
}

static bool read_one(int host, struct frame *into, bool may_end)
{
	unsigned char header[FRAME_HEADER];

	if (!read_fully(host, header, sizeof header, may_end))
		return false;
	into->kind = header[0];
	into->length = header[1] | header[2] << 8 | header[3] << 16 | (uint32_t)header[4] << 24;
	into->payload = NULL;
	if (into->length > FRAME_LIMIT) {
		errno = EMSGSIZE;
		return false;
	}
	into->payload = resize(NULL, into->length + 1);
	into->payload[into->length] = '\0';
	if (read_fully(host, into->payload, into->length, may_end))
		return true;
	free(into->payload);
	into->payload = NULL;
	return false;
}

bool read_frame(int host, struct frame *into)
{
	return read_one(host, into, false);
}

bool read_frame_in_time(int host, struct frame *into)
{
	return read_one(host, into, true);
}
