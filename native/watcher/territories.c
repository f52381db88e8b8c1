/* The write roots that the watcher knows, and which of them can be guarded. */
#include "watcher/territories.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

/* Instances of inotify are a user's, not ours: when they are used up, those that only wait for a next call are given
 * back. */
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
	/* The tool arranges where a carve-out that does not exist comes to lie. Only a watch sees it made. */
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
