#pragma once

#include "watcher/held.h"
#include "watcher/territories.h"
#include "watcher/territory/refresh.h"
#include "watcher/watch-order.h"

/* All that the watcher knows. */
struct watcher {
	struct names names;
	struct territories territories;
	struct watch_order *orders;
	struct held_names held;
	uint64_t requests;
};

/* Takes in what has happened in a root, and does what must be done about it at once. */
void refresh(struct watcher *watcher, struct territory *territory, enum thoroughness how);
/* What a call that has ended left in its root. */
void look_at_what_is_left(struct watcher *watcher, struct watch_order *order);
/* Tells the host of a name that a call holds. */
void on_held_replacement(unsigned long number, const char *path);
