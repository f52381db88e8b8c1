/* Walking a write root, and putting its folders under watch. */
#pragma once

#include "watcher/territory/names.h"
#include "watcher/territory/territory.h"

/* Who wants to know what happens in a territory. */
struct observer {
	/* A protected or carved-out name was created or moved in. True when it is no longer there. */
	bool (*appeared)(struct territory *territory, const char *path, bool is_protected, void *context);
	/* Something was removed, moved or put at a name that is remembered, or that is a folder's. */
	void (*replaced)(struct territory *territory, const char *path, void *context);
	void *context;
};

void explore(struct territory *territory, const char *from, const struct names *names, const struct observer *observer);
