/* inotify_init(), counted. */
#pragma once

#include "keeper/call/notification.h"

struct inotify_count {
	unsigned assumed; /* never less than there are */
};

void answer_inotify(const struct notification *call, struct inotify_count *count);
