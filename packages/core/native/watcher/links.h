#pragma once

#include "watcher/watch-order.h"

/* Whether the link that was at `path` before is there now (also: put back). */
bool link_is_unchanged(struct territory *territory, const char *path);

/* Words `@PATH` of the order: links that a policy carves out. No mount seals them, so they are put back too. */
void remember_carved_links(struct watch_order *order);

/* All that is protected for this call, as kind and path each. What does not exist yet is added to the order's words. */
void list_guarded(FILE *list, struct watch_order *order, const struct names *names);
