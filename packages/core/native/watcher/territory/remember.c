/* What is remembered of the protected names that exist in a write root, and what is forgotten. */
#include "watcher/territory/remember.h"

static void note_object(struct territory *territory, struct found *found)
{
	struct statx status;

	if (status_at(territory, found->path, &status))
		found->identity = identity_of(&status);
}

bool remember(struct territory *territory, const char *path, char kind)
{
	struct findings *found = &territory->found;

	if (find(found, path))
		return false;
	/* A tool may make names without end; what it cannot make is a watcher that grows with them. */
	if (found->count == MOST_FOUND) {
		territory->too_large = true;
		return false;
	}
	struct found *added = add_found(found, path);
	added->kind = kind;
	added->target = kind == 'l' ? read_link(territory, path) : NULL;
	added->seen = territory->turn;
	note_object(territory, added);
	return true;
}

void remember_closed(struct territory *territory, const char *path)
{
	remember(territory, path, 'd');
	struct found *folder = find(&territory->found, path);
	if (folder)
		folder->closed = true;
}

static void keep_only(struct territory *territory, bool wanted(struct territory *, struct found *))
{
	struct findings *found = &territory->found;
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (wanted(territory, &found->list[i])) {
			found->list[kept++] = found->list[i];
		} else {
			free(found->list[i].path);
			free(found->list[i].target);
		}
	}
	if (kept == found->count)
		return;
	found->count = kept;
	build_index(found);
}

static bool is_there(struct territory *territory, struct found *found)
{
	struct statx status;
	char kind = status_at(territory, found->path, &status) ? kind_of(&status) : 0;

	if (kind)
		found->kind = kind;
	if (territory->calls)
		return kind || found->target;
	if (kind)
		found->identity = identity_of(&status);
	/* Nobody but its user changed it: that is what it is now. */
	free(found->target);
	found->target = kind == 'l' ? read_link(territory, found->path) : NULL;
	return kind && !found->on_the_way;
}

void forget_vanished(struct territory *territory)
{
	keep_only(territory, is_there);
}

static bool is_closed_or_other(struct territory *territory, struct found *found)
{
	if (!found->closed)
		return true;
	CLOSE_ON_RETURN int folder = open_beneath(territory, found->path, O_RDONLY | O_DIRECTORY);
	if (folder >= 0)
		add_path(&territory->unexplored, found->path);
	return folder < 0;
}

void forget_opened(struct territory *territory)
{
	keep_only(territory, is_closed_or_other);
}
