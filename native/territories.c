/* The write roots that the scout knows, and which of them can be guarded. */
#include "cell.h"
#include "scout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

/* A root that was replaced by another folder of the same name is not the one we know. */
static bool is_still_there(const struct territory *territory)
{
	struct stat known, now;

	return fstat(territory->fd, &known) == 0 && lstat(territory->root, &now) == 0 && known.st_ino == now.st_ino && known.st_dev == now.st_dev;
}

static void drop(struct territories *all, size_t index)
{
	close_territory(all->list[index]);
	all->list[index] = all->list[--all->count];
}

static void make_room(struct territories *all)
{
	size_t oldest = MOST_TERRITORIES;

	for (size_t i = 0; i < all->count; i++)
		if (!all->list[i]->calls && (oldest == MOST_TERRITORIES || all->list[i]->used < all->list[oldest]->used))
			oldest = i;
	if (all->count == MOST_TERRITORIES && oldest < MOST_TERRITORIES)
		drop(all, oldest);
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
	make_room(all);
	errno = EMFILE;
	struct territory *territory = all->count < MOST_TERRITORIES ? open_territory(root) : NULL;
	if (territory)
		all->list[all->count++] = territory;
	return territory;
}

const char *cannot_guard(const struct territory *territory, const char *word, const char *end)
{
	if (!territory)
		return strerror(errno);
	/* Where a carve-out that does not exist would come to lie is the tool's to arrange; only a watch sees it made. */
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
		return "it holds more than " TEXT_OF(MOST_FOLDERS) " folders or " TEXT_OF(MOST_FOUND) " protected names, or paths that are too long; grant smaller folders";
	return NULL;
}
