/* The protected names found in a write root, with an index by path: a tool may make very many. */
#include "watcher/territory/findings.h"
#include "wire/hash.h"
#include "wire/memory.h"

static size_t *slot_of(const struct findings *found, const char *path)
{
	size_t at = hash_bytes(path, strlen(path)) & (found->index_room - 1);

	while (found->index[at] && strcmp(found->list[found->index[at] - 1].path, path) != 0)
		at = (at + 1) & (found->index_room - 1);
	return &found->index[at];
}

struct found *find(const struct findings *found, const char *path)
{
	size_t position = found->index_room ? *slot_of(found, path) : 0;

	return position ? &found->list[position - 1] : NULL;
}

/* A call that has more sealed than this is refused, so that no event is held against more. */
#define MOST_COMPARED 4096

const struct found *find_object(const struct findings *found, const struct statx *status)
{
	struct identity identity = identity_of(status);

	for (size_t i = 0; i < found->count && i < MOST_COMPARED; i++)
		if (found->list[i].kind == 'f' && is_same_object(&found->list[i].identity, &identity))
			return &found->list[i];
	return NULL;
}

void build_index(struct findings *found)
{
	free(found->index);
	found->index_room = 128;
	while (found->index_room < found->count * 4)
		found->index_room *= 2;
	found->index = allocate(found->index_room, sizeof *found->index);
	for (size_t i = 0; i < found->count; i++)
		*slot_of(found, found->list[i].path) = i + 1;
}

bool is_in_closed(const struct findings *all, const char *path)
{
	char part[PATH_MAX];

	for (const char *end = path; end; end = *end ? strchr(end + 1, '/') : NULL) {
		snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
		const struct found *found = find(all, part);
		if (found && found->closed)
			return true;
	}
	const struct found *itself = find(all, path);
	return itself && itself->closed;
}

void free_findings(struct findings *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free(found->list[i].path);
		free(found->list[i].target);
	}
	free(found->list);
	free(found->index);
}

struct found *add_found(struct findings *found, const char *path)
{
	/* At most half full, so that a search is short. */
	if ((found->count + 1) * 2 > found->index_room)
		build_index(found);
	APPEND(found->list, found->count, (struct found){ .path = copy_text(path) });
	*slot_of(found, path) = found->count;
	return &found->list[found->count - 1];
}
