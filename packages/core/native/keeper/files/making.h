#pragma once

#include "keeper/call/notification.h"

enum effect { NOTHING, REMOVES, MAKES, REPLACES, EMPTIES };

/* A name that a call changes: the numbers of its arguments for the folder (-1: the working one) and the path. */
struct name {
	enum effect effect;
	int at, path;
};

struct name_call {
	int number;
	struct name names[2];
	int extra; /* the argument with the mode, flags or text of a link, or -1 */
};

const struct name_call *name_call_of(int number);
/* LET_THROUGH when it is elsewhere, or no call that changes a name. */
int answer_making(const struct notification *call, const struct name_call *where);
int folder_argument(const struct notification *call, const struct name *name);
