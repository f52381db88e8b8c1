/* Looking again and again where inotify is used up. */
#pragma once

#include "watcher/territories.h"

int until_next_round(const struct territories *all);
bool begins_round(struct territory *territory);
void end_round(struct territory *territory);
