/* inotify_init(), counted. */
#ifndef CORDON_INOTIFY_INSTANCES_H
#define CORDON_INOTIFY_INSTANCES_H

#include "keeper/call/notification.h"

struct inotify_count {
	unsigned assumed; /* never less than there are */
};

void answer_inotify(const struct notification *call, struct inotify_count *count);

#endif
