/* Which files have several names (hard links), and which got one more while calls ran. */
#include "wire/cell.h"
#include "watcher/watcher.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Names that are looked at again one by one; with more, everything is. */
#define MOST_NOTED 1024
/* Files that are remembered as linked; with more, every file counts as one. */
#define MOST_LINKED 65536

bool has_other_names(const struct statx *status)
{
	return S_ISREG(status->stx_mode) && status->stx_nlink > 1;
}

struct identity identity_of(const struct statx *status)
{
	int64_t born = status->stx_mask & STATX_BTIME ? status->stx_btime.tv_sec * 1000000000 + status->stx_btime.tv_nsec : 0;

	return (struct identity){ status->stx_dev_major, status->stx_dev_minor, status->stx_ino, born };
}

int compare_identities(const void *left, const void *right)
{
	const struct identity *a = left, *b = right;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->device_major != b->device_major)
		return a->device_major < b->device_major ? -1 : 1;
	return a->device_minor == b->device_minor ? 0 : a->device_minor < b->device_minor ? -1 : 1;
}

bool is_same_object(const struct identity *left, const struct identity *right)
{
	return left->born && left->born == right->born && compare_identities(left, right) == 0;
}

static void add_identity(struct identities *all, const struct identity *identity)
{
	if (all->count == MOST_LINKED) {
		all->lost++;
		return;
	}
	if (all->count == all->room) {
		all->room = all->room ? all->room * 2 : 64;
		all->list = realloc(all->list, all->room * sizeof *all->list);
		if (!all->list)
			abort();
	}
	all->list[all->count++] = *identity;
}

void note_other_name(struct territory *territory, const char *path, const struct statx *status)
{
	struct identity identity = identity_of(status);

	territory->several->made++;
	add_identity(&territory->several->linked_files, &identity);
	if (territory->unsettled_names.count < MOST_NOTED) {
		add_path(&territory->unsettled_names, path);
		return;
	}
	territory->several->changes++;
	free_paths(&territory->unsettled_names);
}

void settle_other_names(struct territory *territory)
{
	struct statx status;

	/* git makes every object by a second name, and removes the first: that leaves nothing. */
	for (size_t i = 0; i < territory->unsettled_names.count; i++) {
		if (!status_at(territory, territory->unsettled_names.list[i], &status) || !has_other_names(&status))
			continue;
		territory->several->changes++;
		break;
	}
	free_paths(&territory->unsettled_names);
}

struct identities files_linked_since(const struct several_names *several, size_t count, uint64_t lost)
{
	const struct identities *all = &several->linked_files;
	struct identities since = { .lost = all->lost - lost };

	for (size_t i = count; i < all->count; i++)
		add_identity(&since, &all->list[i]);
	if (since.count)
		qsort(since.list, since.count, sizeof *since.list, compare_identities);
	return since;
}

bool is_among(const struct identities *sorted, const struct statx *status)
{
	struct identity identity = identity_of(status);

	return sorted->lost || (sorted->count && bsearch(&identity, sorted->list, sorted->count, sizeof identity, compare_identities));
}
