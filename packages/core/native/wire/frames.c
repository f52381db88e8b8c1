/* Frames on the host connection: one byte of kind, four of length (little endian), payload. */
#include "wire/frames.h"

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

void write_header(unsigned char header[FRAME_HEADER], char kind, size_t length)
{
	header[0] = (unsigned char)kind;
	for (int i = 0; i < 4; i++)
		header[1 + i] = (unsigned char)(length >> 8 * i);
}

bool write_frame(int host, char kind, const void *payload, size_t length)
{
	unsigned char header[FRAME_HEADER];
	struct iovec parts[2] = { { header, sizeof header }, { (void *)payload, length } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	write_header(header, kind, length);
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
