/* What waits to go to the host: the supervisor never blocks on a slow one, or its clocks would stop. */
#include "supervisor/streams/outbox.h"
#include "wire/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static void append(struct outbox *outbox, const void *bytes, size_t length)
{
	if (length == 0)
		return;
	if (outbox->sent == outbox->length)
		outbox->sent = outbox->length = 0;
	if (outbox->length + length > outbox->room) {
		size_t room = (outbox->length + length) * 2;
		outbox->bytes = resize(outbox->bytes, room);
		outbox->room = room;
	}
	memcpy(outbox->bytes + outbox->length, bytes, length);
	outbox->length += length;
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
	unsigned char header[FRAME_HEADER];
	size_t sent = 0;

	write_header(header, (char)kind, length);
	if (outbox_empty(outbox) && !send_now(outbox, header, payload, length, &sent))
		return false;
	if (sent < sizeof header)
		append(outbox, header + sent, sizeof header - sent);
	size_t done = sent < sizeof header ? 0 : sent - sizeof header;
	append(outbox, (const char *)payload + done, length - done);
	return outbox_flush(outbox);
}
