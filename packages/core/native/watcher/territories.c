/* The write roots that the watcher knows, and which of them can be guarded. */
#include "watcher/territories.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

/* A root that was replaced by another folder of the same name is not the one we know. */
static bool is_still_there(const struct territory *territory)
{
	struct stat known, now;

	return fstat(territory->fd, &known) == 0 && lstat(territory->root, &now) == 0 && known.st_ino == now.st_ino &&
	       known.st_dev == now.st_dev;
}

static void drop(struct territories *all, size_t index)
{
	close_territory(all->list[index]);
	all->list[index] = all->list[--all->count];
}

/* Forgets the roots unused for longest until no more than `most` are kept for a call that may come. */
static void forget_idle(struct territories *all, size_t most)
{
	for (;;) {
		size_t idle = 0, oldest = 0;
		for (size_t i = 0; i < all->count; i++)
			if (!all->list[i]->calls && (idle++ == 0 || all->list[i]->used < all->list[oldest]->used))
				oldest = i;
		if (idle <= most)
			return;
		drop(all, oldest);
	}
}

/* When the user's instances of inotify are used up, we give back those that only wait for a next call. */
static struct territory *open_watched(struct territories *all, const char *root)
{
	struct territory *territory = open_territory(root, &all->several);

	if (!territory || territory->inotify >= 0)
		return territory;
	close_territory(territory);
	forget_idle(all, 0);
	return open_territory(root, &all->several);
}

struct territory *territory_of(struct territories *all, const char *root)
{
	for (size_t i = all->count; i-- > 0;) {
		struct territory *known = all->list[i];
		if (strcmp(known->root, root) != 0)
			continue;
		if (is_still_there(known))
			return known;
		/* Calls that began before go on in the folder that they were given, wherever it is now. */
		if (!known->calls)
			drop(all, i);
	}
	forget_idle(all, MOST_IDLE - 1);
	errno = EMFILE;
	struct territory *territory = all->count < MOST_TERRITORIES ? open_watched(all, root) : NULL;
	if (territory)
		all->list[all->count++] = territory;
	return territory;
}

const char *cannot_guard(const struct territory *territory, const char *word, const char *end)
{
	if (!territory)
		return strerror(errno);
	/* Only a watch sees the tool make a carve-out that does not exist yet. */
	for (; territory->inotify < 0 && word < end; word += strlen(word) + 1)
		if (word[0] == '!')
			return "carve-outs that do not exist yet need inotify, which is used up (fs.inotify.max_user_instances)";
	return NULL;
}

const char *cannot_guard_all(const struct territory *territory)
{
	const struct found *root = find(&territory->found, "");

	if (root && root->closed)
		return "its user may not list it";
	if (territory->too_large)
		return "it holds more than " TEXT_OF(MOST_FOLDERS) " folders or " TEXT_OF(
			MOST_FOUND) " protected names, or paths that are too long; grant smaller folders";
	return NULL;
}

/*
 * Rounds through write roots that cannot be watched, because the user's instances or watches of inotify are used up.
 * While a call runs the watcher walks them again and again, so that a protected name does not stay until the call has
 * ended. At most a tenth of the time is spent on that.
 */
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
