#pragma once

#include "watcher/territory/territory.h"

enum thoroughness { WHAT_HAPPENED, EVERYTHING };
/* Takes in what has happened. EVERYTHING also looks where nothing can be watched. */
void refresh_territory(struct territory *territory, enum thoroughness how, const struct observer *observer);
