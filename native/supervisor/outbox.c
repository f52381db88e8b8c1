/* What waits to go to the host: the supervisor never blocks on a slow one, or its clocks would stop. */
#include "wire/cell.h"
#include "supervisor/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static bool append(struct outbox *outbox, const void *bytes, size_t length)
{
	if (length == 0)
		return true;
	if (outbox->sent == outbox->length)
		outbox->sent = outbox->length = 0;
	if (outbox->length + length > outbox->room) {
		size_t room = (outbox->length + length) * 2;
		char *grown = realloc(outbox->bytes, room);
		if (!grown)
			return false;
		outbox->bytes = grown;
		outbox->room = room;
	}
	memcpy(outbox->bytes + outbox->length, bytes, length);
	outbox->length += length;
	return true;
}

bool outbox_empty(const struct outbox *outbox)
{
	return outbox->sent == outbox->length;
}

bool outbox_flush(struct outbox *outbox)
{
	while (!outbox_empty(outbox)) {
		ssize_t put = send(outbox->host, outbox->bytes + outbox->sent, outbox->length - outbox->sent,
				   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno == EAGAIN;
		outbox->sent += put;
	}
	return true;
}

/* Straight from where it is when nothing waits; only what the socket does not take is copied. */
static bool send_now(struct outbox *outbox, const void *header, const void *payload, size_t length, size_t *sent)
{
	struct iovec parts[2] = { { (void *)header, FRAME_HEADER }, { (void *)payload, length } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t put;

	do
		put = sendmsg(outbox->host, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	*sent = put < 0 ? 0 : put;
	return put >= 0 || errno == EAGAIN;
}

bool outbox_put(struct outbox *outbox, enum frame_kind kind, const void *payload, size_t length)
{
	unsigned char header[FRAME_HEADER] = { kind, length, length >> 8, length >> 16, length >> 24 };
	size_t sent = 0;

	if (outbox_empty(outbox) && !send_now(outbox, header, payload, length, &sent))
		return false;
	if (sent < sizeof header && !append(outbox, header + sent, sizeof header - sent))
		return false;
	size_t done = sent < sizeof header ? 0 : sent - sizeof header;
	return append(outbox, (const char *)payload + done, length - done) && outbox_flush(outbox);
}
