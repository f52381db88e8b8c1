/* Objects of a file system, however they are named. */
#include "watcher/territory/identity.h"
#include "wire/memory.h"

/* Files that are remembered as linked; with more, every file counts as one. */
#define MOST_LINKED 65536

bool has_other_names(const struct statx *status)
{
	return S_ISREG(status->stx_mode) && status->stx_nlink > 1;
}

struct identity identity_of(const struct statx *status)
{
	int64_t born =
		status->stx_mask & STATX_BTIME ? status->stx_btime.tv_sec * 1000000000 + status->stx_btime.tv_nsec : 0;

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

void add_identity(struct identities *all, const struct identity *identity)
{
	if (all->count == MOST_LINKED) {
		all->lost++;
		return;
	}
	APPEND(all->list, all->count, *identity);
}

bool is_among(const struct identities *sorted, const struct statx *status)
{
	struct identity identity = identity_of(status);

	return sorted->lost ||
	       (sorted->count && bsearch(&identity, sorted->list, sorted->count, sizeof identity, compare_identities));
}
