/* Names that a policy takes out of what it grants, anywhere. */
#pragma once

#include <stddef.h>

/* Single names that the policy of a call takes out of what it grants: what is mounted over them goes with them. */
struct held_names {
	int inotify; /* -1: not yet */
	struct held_name *list;
};

/* NULL, or why it cannot be watched. */
const char *hold_name(struct held_names *held, unsigned long number, const char *path);
void release_names(struct held_names *held, unsigned long number);
typedef void held_was_replaced(unsigned long number, const char *path);
void take_held_events(struct held_names *held, held_was_replaced *replaced);
