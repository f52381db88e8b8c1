/* Frames on the host connection: one byte of kind, four of length (little endian), payload. */
#include "wire/cell.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

bool read_fully(int fd, void *bytes, size_t length)
{
	char *at = bytes;

	while (length > 0) {
		ssize_t got = read(fd, at, length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) {
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

bool write_fully(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t put = write(fd, at, length);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (put <= 0)
			return false;
		at += put;
		length -= put;
	}
	return true;
}

bool read_frame(int host, struct frame *into)
{
	unsigned char header[FRAME_HEADER];

	if (!read_fully(host, header, sizeof header))
		return false;
	into->kind = header[0];
	into->length = header[1] | header[2] << 8 | header[3] << 16 | (uint32_t)header[4] << 24;
	into->payload = NULL;
	if (into->length > FRAME_LIMIT) {
		errno = EMSGSIZE;
		return false;
	}
	into->payload = malloc(into->length + 1);
	if (!into->payload)
		return false;
	into->payload[into->length] = '\0';
	if (read_fully(host, into->payload, into->length))
		return true;
	free(into->payload);
	into->payload = NULL;
	return false;
}

bool write_frame(int host, char kind, const void *payload, size_t length)
{
	unsigned char header[FRAME_HEADER] = { kind, length, length >> 8, length >> 16, length >> 24 };
	struct iovec parts[2] = { { header, sizeof header }, { (void *)payload, length } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	/* One call, so that a frame of the cell and one of its supervisor never mix. */
	ssize_t put = sendmsg(host, &message, MSG_NOSIGNAL);
	if (put < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	size_t done = put < 0 ? 0 : put;
	if (done < sizeof header) {
		if (!write_fully(host, header + done, sizeof header - done))
			return false;
		done = sizeof header;
	}
	return write_fully(host, (const char *)payload + (done - sizeof header), length - (done - sizeof header));
}
