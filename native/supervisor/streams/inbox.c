/* What waits to be read by the tool: a tool that does not read must not block the supervisor. */
#include "supervisor/streams/inbox.h"
#include "wire/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

size_t inbox_waiting(const struct inbox *inbox)
{
	return inbox->length - inbox->at;
}

void inbox_put(struct inbox *inbox, const char *bytes, size_t length)
{
	if (inbox->at == inbox->length)
		inbox->at = inbox->length = 0;
	inbox->bytes = resize(inbox->bytes, inbox->length + length);
	memcpy(inbox->bytes + inbox->length, bytes, length);
	inbox->length += length;
}

void inbox_write(struct inbox *inbox, int to)
{
	while (inbox_waiting(inbox) > 0) {
		ssize_t put = write(to, inbox->bytes + inbox->at, inbox_waiting(inbox));
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put < 0) { /* the tool closed its input; what is left is nobody's */
			inbox->at = inbox->length;
			inbox->ends = true;
			return;
		}
		inbox->at += put;
	}
}
