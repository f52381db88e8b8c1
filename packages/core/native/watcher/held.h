#pragma once

#include "wire/system.h"

struct held_names {
	int inotify; /* -1: not yet */
	struct held_name *list;
	void (*replaced)(unsigned long number, const char *path);
};

/* NULL, or why it cannot be watched. */
const char *hold_name(struct held_names *held, unsigned long number, const char *path);
void release_names(struct held_names *held, unsigned long number);
void take_held_events(struct held_names *held);
