/* Frames between the watcher and its host, see watcher.c. */
#pragma once

#include "wire/system.h"

#define WATCHER_HOST 3 /* the descriptor */

enum watcher_frame {
	/* from the host */
	WATCHER_NAMES = 'N',
	WATCHER_BEGIN = 'B',
	WATCHER_HOLD = 'H',
	WATCHER_OTHER_NAMES = 'L',
	WATCHER_GO = 'G',
	WATCHER_END = 'X',
	/* to the host */
	WATCHER_FOUND = 'F',
	WATCHER_DONE = 'D',
	WATCHER_ASIDE = 'A',
};

/* What was done about something protected that a call touched. */
enum deed {
	SET_ASIDE = 'm', /* moved to an inert name */
	PUT_BACK = 'b', /* a link that was removed is there again */
	LEFT = 'l', /* it could not be moved */
	SHARED = 'c', /* left: another call that may make it runs there, and either may have */
	UNSEEN = 'u', /* the root holds more than is looked through */
	SEPARATED = 's', /* it had another name; it is a file of its own now */
	REPLACED = 'r', /* nothing: somebody else replaced, moved or removed it, and with it its seal */
};
