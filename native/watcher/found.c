/* The protected names that exist in a write root: which names those are, and what is remembered of each. */
#include "wire/cell.h"
#include "wire/kernel.h"
#include "watcher/watcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool in_dependencies(const char *path)
{
	return strncmp(path, "node_modules/", 13) == 0 || strstr(path, "/node_modules/");
}

bool ends_in_name(const char *path, const char *name)
{
	size_t length = strlen(path), tail = strlen(name);

	return length >= tail && strcmp(path + length - tail, name) == 0 && (length == tail || path[length - tail - 1] == '/');
}

const char *behind_git(const char *path)
{
	const char *behind = NULL;

	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		size_t length = strcspn(part, "/");
		if (length == 4 && strncmp(part, ".git", 4) == 0)
			behind = part + 4;
	}
	return behind;
}

bool leads_to_name(const char *path, const char *name, const char **rest)
{
	char first[NAME_MAX + 1];

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(first, sizeof first, "%.*s", (int)(slash - name), name);
		if (!ends_in_name(path, first))
			continue;
		*rest = slash + 1;
		return true;
	}
	return false;
}

bool means_name(const char *path, const char *name, char kind)
{
	const char *rest;

	return ends_in_name(path, name) || (kind == 'l' && leads_to_name(path, name, &rest));
}

static uint64_t hash_until(const char *text, const char *end);

static uint64_t *ending_of(uint64_t *endings, const char *name, const char *end, uint64_t *bit)
{
	uint64_t hash = hash_until(name, end) >> 32;

	*bit = 1ull << (hash & 63);
	return &endings[hash >> 6 & (ENDINGS - 1)];
}

void add_ending(struct names *names, const char *name)
{
	uint64_t bit;

	/* A link of the name `.config` leads to the `fish` of `.config/fish`: every part counts. */
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		*ending_of(names->endings, part, part + strcspn(part, "/"), &bit) |= bit;
	}
}

static bool may_be_protected(const struct names *names, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint64_t bit;

	return *ending_of((uint64_t *)names->endings, name, name + strlen(name), &bit) & bit;
}

/* A branch may have any name that does not begin with a dot; in a repository those are names of git's own. */
static bool is_name_of_git(const char *path, const char *name)
{
	const char *git = behind_git(path), *slash = strrchr(path, '/');

	return git && *git && slash && slash[1] != '.' && strncmp(name, ".git/", 5) != 0;
}

bool is_protected_name(const struct names *names, const char *path, char kind)
{
	if (!may_be_protected(names, path))
		return false;
	for (size_t i = 0; i < names->count; i++) {
		if (!means_name(path, names->list[i].path, kind) || is_name_of_git(path, names->list[i].path))
			continue;
		switch (names->list[i].scope) {
		case SCOPE_ANYWHERE:
			return true;
		case SCOPE_PROJECT:
			if (!in_dependencies(path))
				return true;
			break;
		case SCOPE_ROOT:
			if (strchr(path, '/') == NULL || strcmp(path, names->list[i].path) == 0)
				return true;
			break;
		case SCOPE_FILE:
			if (kind != 'd')
				return true;
			break;
		}
	}
	return false;
}

/* FNV-1a. A tool that seeks collisions slows only the look at what it made itself. */
static uint64_t hash_until(const char *text, const char *end)
{
	uint64_t hash = 14695981039346656037u;

	for (; text < end; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash;
}

static size_t hash_of(const char *path)
{
	return hash_until(path, path + strlen(path));
}

static size_t *slot_of(const struct findings *found, const char *path)
{
	size_t at = hash_of(path) & (found->index_room - 1);

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

static void note_object(struct territory *territory, struct found *found)
{
	struct statx status;

	if (status_at(territory, found->path, &status))
		found->identity = identity_of(&status);
}

static void build_index(struct findings *found)
{
	free(found->index);
	found->index_room = 128;
	while (found->index_room < found->room * 2)
		found->index_room *= 2;
	found->index = calloc(found->index_room, sizeof *found->index);
	if (!found->index)
		abort();
	for (size_t i = 0; i < found->count; i++)
		*slot_of(found, found->list[i].path) = i + 1;
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
	if (found->count == found->room) {
		found->room = found->room ? found->room * 2 : 64;
		found->list = realloc(found->list, found->room * sizeof *found->list);
		if (!found->list)
			abort();
		build_index(found);
	}
	found->list[found->count++] =
		(struct found){ .path = strdup(path), .kind = kind, .target = kind == 'l' ? read_link(territory, path) : NULL, .seen = territory->turn };
	*slot_of(found, path) = found->count;
	note_object(territory, &found->list[found->count - 1]);
	return true;
}

void remember_closed(struct territory *territory, const char *path)
{
	remember(territory, path, 'd');
	struct found *folder = find(&territory->found, path);
	if (folder)
		folder->closed = true;
}

bool is_in_closed(const struct territory *territory, const char *path)
{
	char part[PATH_MAX];

	for (const char *end = path; end; end = *end ? strchr(end + 1, '/') : NULL) {
		snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
		const struct found *found = find(&territory->found, part);
		if (found && found->closed)
			return true;
	}
	const struct found *itself = find(&territory->found, path);
	return itself && itself->closed;
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

void free_findings(struct findings *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free(found->list[i].path);
		free(found->list[i].target);
	}
	free(found->list);
	free(found->index);
}
