/* What waits to go to the host, see outbox.c. */
#pragma once

#include "wire/frames.h"

struct outbox {
	int host;
	char *bytes;
	size_t sent, length, room;
};

/* False when the host is gone. */
bool outbox_put(struct outbox *outbox, enum frame_kind kind, const void *payload, size_t length);
bool outbox_flush(struct outbox *outbox);
bool outbox_empty(const struct outbox *outbox);
