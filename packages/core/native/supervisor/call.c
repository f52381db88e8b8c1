/* One running call, as its supervisor sees it: what waits for its host and its tool, and how it is killed. */
#include "supervisor/call.h"
#include "processes/descendants.h"
#include "wire/memory.h"

#include <stdarg.h>

size_t waiting(const struct queue *queue)
{
	return queue->length - queue->at;
}

void enqueue(struct queue *queue, const void *bytes, size_t length)
{
	if (length == 0)
		return;
	if (queue->at == queue->length)
		queue->at = queue->length = 0;
	if (queue->length + length > queue->room) {
		queue->room = (queue->length + length) * 2;
		queue->bytes = resize(queue->bytes, queue->room);
	}
	memcpy(queue->bytes + queue->length, bytes, length);
	queue->length += length;
}

/* Without waiting. Returns how much the host has taken, or -1 when it is gone. */
static ssize_t send_now(struct call *call, struct iovec *parts, size_t count)
{
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
	ssize_t put;

	do
		put = sendmsg(call->host, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put < 0 && errno == EAGAIN)
		return 0;
	call->host_gone = call->host_gone || put < 0;
	return put;
}

void flush_frames(struct call *call)
{
	while (waiting(&call->outbox) > 0) {
		struct iovec rest = { call->outbox.bytes + call->outbox.at, waiting(&call->outbox) };
		ssize_t sent = send_now(call, &rest, 1);
		if (sent <= 0)
			return;
		call->outbox.at += sent;
	}
}

void put_frame(struct call *call, enum frame_kind kind, const void *payload, size_t length)
{
	unsigned char header[FRAME_HEADER];
	struct iovec parts[] = { { header, sizeof header }, { (void *)payload, length } };

	write_header(header, (char)kind, length);
	/* Straight from where it is when nothing waits; only what the socket does not take is copied. */
	ssize_t sent = waiting(&call->outbox) ? 0 : send_now(call, parts, 2);
	if (sent < 0)
		return;
	size_t of_header = (size_t)sent < sizeof header ? (size_t)sent : sizeof header, done = sent - of_header;
	enqueue(&call->outbox, header + of_header, sizeof header - of_header);
	enqueue(&call->outbox, (const char *)payload + done, length - done);
	flush_frames(call);
}

void tell(struct call *call, const char *format, ...)
{
	char line[8192];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	put_frame(call, FRAME_EVENT, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
}

void kill_cell(struct call *call)
{
	if (call->killed)
		return;
	call->killed = true;
	call->killed_at = milliseconds();
	kill_cgroup(call->cgroup);
	if (call->plan->form == FORM_NAMESPACES) {
		kill(call->keeper, SIGKILL);
		return;
	}
	/* Without a pid namespace the keeper outlives the kill, because it is told how the tool ended. It can also do
	 * it itself, where /proc shows us nothing; we do not wait for it, where /proc does. */
	kill(call->keeper, SIGUSR1);
	kill_descendants(call->keeper, NULL, 0);
}
