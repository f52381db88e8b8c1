/* Events of inotify. */
#pragma once

#include "wire/system.h"

#include <sys/inotify.h>

typedef void take_one_event(void *context, const struct inotify_event *event);

/* Those that wait now, and no more: others may go on for ever. */
static inline void take_events(int inotify, take_one_event *take, void *context)
{
	char events[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
	int waiting = 0;
	ssize_t length;

	if (ioctl(inotify, FIONREAD, &waiting) < 0)
		return;
	for (; waiting > 0 && (length = read(inotify, events, sizeof events)) > 0; waiting -= (int)length) {
		for (char *at = events; at < events + length;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			take(context, event);
			at += sizeof *event + event->len;
		}
	}
}
