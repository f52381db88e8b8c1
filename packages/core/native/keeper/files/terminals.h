#pragma once

#include "keeper/call/notification.h"

/* The machine has some thousand for all. */
#define MOST_TERMINALS 64

/* The other sides, as objects (O_PATH): a number is given out again, an object is not. */
struct terminals {
	int sides[MOST_TERMINALS];
	size_t count;
};

/* NOT_OURS when the terminal does not belong to the tool. */
int open_terminal_for(const struct notification *call, int object, int flags);
int answer_ioctl(const struct notification *call);
