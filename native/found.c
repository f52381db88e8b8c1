/* The protected names that exist in a write root: which names those are, and what is remembered of each. */
#include "cell.h"
#include "kernel.h"
#include "scout.h"

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
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		size_t length = strcspn(part, "/");
		if (length == 4 && strncmp(part, ".git", 4) == 0)
			return part + 4;
	}
	return NULL;
}

bool is_protected_name(const struct names *names, const char *path, char kind)
{
	for (size_t i = 0; i < names->count; i++) {
		if (!ends_in_name(path, names->list[i].path))
			continue;
		switch (names->list[i].scope) {
		case SCOPE_ANYWHERE:
			return true;
		case SCOPE_PROJECT:
			if (!in_dependencies(path))
				return true;
			break;
		case SCOPE_ROOT:
			if (strcmp(path, names->list[i].path) == 0)
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
static size_t hash_of(const char *path)
{
	uint64_t hash = 14695981039346656037u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 1099511628211u;
	return hash;
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

static char *read_link(struct territory *territory, const char *path)
{
	CLOSE_ON_RETURN int link = open_beneath(territory, path, O_PATH);
	char target[PATH_MAX];
	ssize_t length = link < 0 ? -1 : readlinkat(link, "", target, sizeof target - 1);

	return length < 0 ? NULL : strndup(target, length);
}

bool link_is_unchanged(struct territory *territory, const char *path)
{
	const struct found *known = find(&territory->found, path);
	FREE_ON_RETURN char *now = read_link(territory, path);

	return known && known->target && now && strcmp(known->target, now) == 0;
}

bool remember(struct territory *territory, const char *path, char kind)
{
	struct findings *found = &territory->found;

	if (find(found, path))
		return false;
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
	return true;
}

void remember_closed(struct territory *territory, const char *path)
{
	remember(territory, path, 'd');
	find(&territory->found, path)->closed = true;
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
	char kind = kind_at(territory, found->path);

	if (kind)
		found->kind = kind;
	return kind || (found->target && territory->in_use);
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

/* Below the root as the kernel sees it; NULL for other places, and for the root itself, which cannot be sealed in itself. */
static char *below_root(const struct territory *territory, const char *path)
{
	size_t length = strlen(territory->root);

	return strncmp(path, territory->root, length) == 0 && path[length] == '/' ? strdup(path + length + 1) : NULL;
}

/* Where a link that leads nowhere yet would lead: by its words alone, through no other link. */
static char *missing_target(const struct territory *territory, const char *folder, const char *target)
{
	char path[2 * PATH_MAX], names[2 * PATH_MAX], *rest;
	size_t length = 0;

	if (target[0] == '/')
		snprintf(names, sizeof names, "%s", target);
	else
		snprintf(names, sizeof names, "%s/%s/%s", territory->root, folder, target);
	for (char *name = strtok_r(names, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			while (length && path[--length] != '/')
				;
			continue;
		}
		length += snprintf(path + length, sizeof path - length, "/%s", name);
	}
	path[length] = '\0';
	return below_root(territory, path);
}

char *target_below_root(struct territory *territory, const struct found *link, char *kind)
{
	const char *slash = strrchr(link->path, '/');
	char folder_path[PATH_MAX], descriptor[64], path[PATH_MAX];
	struct stat status;

	snprintf(folder_path, sizeof folder_path, "%.*s", (int)(slash ? slash - link->path : 0), link->path);
	CLOSE_ON_RETURN int folder = open_beneath(territory, folder_path, O_PATH | O_DIRECTORY);
	if (folder < 0 || !link->target)
		return NULL;
	CLOSE_ON_RETURN int object = openat(folder, link->target, O_PATH | O_CLOEXEC);
	if (object < 0) {
		*kind = 0;
		return missing_target(territory, folder_path, link->target);
	}
	snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", object);
	ssize_t length = readlink(descriptor, path, sizeof path - 1);
	if (length < 0 || fstat(object, &status) < 0)
		return NULL;
	path[length] = '\0';
	*kind = S_ISDIR(status.st_mode) ? 'd' : 'f';
	return below_root(territory, path);
}
