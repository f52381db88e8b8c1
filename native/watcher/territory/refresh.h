/* What has happened in a write root, taken in. */
#pragma once

#include "watcher/territory/explore.h"

enum thoroughness { WHAT_HAPPENED, EVERYTHING };
/* Takes in what has happened. EVERYTHING also looks where nothing can be watched. */
void refresh_territory(struct territory *territory, const struct names *names, enum thoroughness how,
		       const struct observer *observer);
