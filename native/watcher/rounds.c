/*
 * Rounds through write roots that cannot be watched, because the user's instances or watches of inotify are used up.
 * While a call runs the watcher walks them again and again, so that a protected name does not stay until the call has
 * ended. A walk may take long in a large tree: at most a tenth of the time is spent on them.
 */
#include "watcher/rounds.h"
#include "wire/clock.h"

#include <string.h>

#define SHORTEST_PAUSE 50 /* milliseconds */

static bool needs_rounds(const struct territory *territory)
{
	return territory->calls && (territory->unwatched || territory->inotify < 0);
}

int until_next_round(const struct territories *all)
{
	uint64_t time = milliseconds(), next = UINT64_MAX;

	for (size_t i = 0; i < all->count; i++)
		if (needs_rounds(all->list[i]) && all->list[i]->next_round < next)
			next = all->list[i]->next_round;
	return next == UINT64_MAX ? -1 : next <= time ? 0 : (int)(next - time);
}

bool begins_round(struct territory *territory)
{
	uint64_t time = milliseconds();

	if (!needs_rounds(territory) || territory->next_round > time)
		return false;
	territory->round_began = time;
	add_path(&territory->unexplored, "");
	return true;
}

void end_round(struct territory *territory)
{
	uint64_t time = milliseconds(), took = time - territory->round_began;

	territory->next_round = time + (took * 9 > SHORTEST_PAUSE ? took * 9 : SHORTEST_PAUSE);
}
