/* Which files have several names (hard links), and which got one more while calls ran. */
#include "watcher/territory/several-names.h"

/* Names that are looked at again one by one; with more, everything is. */
#define MOST_NOTED 1024
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
