/*
 * What is where in a write root: which protected names exist, at any depth.
 *
 * The tree is walked once; from then on inotify tells what changes, so that a
 * call in a tree of hundreds of thousands of files costs no more than in an
 * empty one. All paths are opened beneath the root and through no symbolic
 * link: a tool may be rearranging the tree while we look.
 */
#include "cell.h"
#include "kernel.h"
#include "scout.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define MOST_FOLDERS 131072
#define CORDON_RESOLVE_BENEATH 0x08
#define WATCHED (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK)

static int open_beneath(const struct territory *territory, const char *path, int flags)
{
	return open_how(territory->fd, *path ? path : ".", flags | O_NOFOLLOW, CORDON_RESOLVE_BENEATH | CORDON_RESOLVE_NO_SYMLINKS);
}

struct territory *open_territory(const char *root)
{
	struct territory *territory = calloc(1, sizeof *territory);

	if (!territory)
		return NULL;
	territory->root = strdup(root);
	territory->fd = open_how(AT_FDCWD, root, O_PATH | O_DIRECTORY, CORDON_RESOLVE_NO_SYMLINKS);
	/* Without one (a user has 128, in all containers together) nothing can be watched, and every call looks anew. */
	territory->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (territory->root && territory->fd >= 0)
		return territory;
	free(territory->root);
	free(territory);
	return NULL;
}

void close_territory(struct territory *territory)
{
	close(territory->fd);
	close(territory->inotify);
	for (size_t i = 0; i < territory->folder_room; i++)
		free(territory->folders[i].path);
	for (size_t i = 0; i < territory->found_count; i++) {
		free(territory->found[i].path);
		free(territory->found[i].target);
	}
	free(territory->folders);
	free(territory->found);
	free(territory->root);
	free(territory);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

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

static bool is_protected(const struct name *names, size_t count, const char *path, char kind)
{
	for (size_t i = 0; i < count; i++) {
		if (!ends_in_name(path, names[i].path))
			continue;
		switch (names[i].scope) {
		case SCOPE_ANYWHERE:
			return true;
		case SCOPE_PROJECT:
			if (!in_dependencies(path))
				return true;
			break;
		case SCOPE_ROOT:
			if (strcmp(path, names[i].path) == 0)
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

static char kind_at(const struct territory *territory, const char *path)
{
	CLOSE_ON_RETURN int object = open_beneath(territory, path, O_PATH);
	struct stat status;

	if (object < 0 || fstat(object, &status) < 0)
		return 0;
	return S_ISDIR(status.st_mode) ? 'd' : S_ISLNK(status.st_mode) ? 'l' : 'f';
}

static char *read_link(const struct territory *territory, const char *path)
{
	CLOSE_ON_RETURN int link = open_beneath(territory, path, O_PATH);
	char target[PATH_MAX];
	ssize_t length = link < 0 ? -1 : readlinkat(link, "", target, sizeof target - 1);

	return length < 0 ? NULL : strndup(target, length);
}

bool link_is_unchanged(const struct territory *territory, const char *path)
{
	FREE_ON_RETURN char *now = read_link(territory, path);

	for (size_t i = 0; now && i < territory->found_count; i++)
		if (territory->found[i].target && strcmp(territory->found[i].path, path) == 0)
			return strcmp(territory->found[i].target, now) == 0;
	return false;
}

static void remember(struct territory *territory, const char *path, char kind)
{
	for (size_t i = 0; i < territory->found_count; i++)
		if (strcmp(territory->found[i].path, path) == 0)
			return; /* as it was first seen: what replaced it is judged against that */
	if (territory->found_count == territory->found_room) {
		territory->found_room = territory->found_room ? territory->found_room * 2 : 64;
		territory->found = realloc(territory->found, territory->found_room * sizeof *territory->found);
		if (!territory->found)
			abort();
	}
	territory->found[territory->found_count++] =
		(struct found){ strdup(path), kind, kind == 'l' ? read_link(territory, path) : NULL, territory->turn };
}

/* True when the folder is under watch now. */
static bool watch(struct territory *territory, const char *path)
{
	char full[PATH_MAX];

	if (territory->folder_count >= MOST_FOLDERS)
		return false;
	CLOSE_ON_RETURN int folder = open_beneath(territory, path, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return true; /* gone again */
	/* The descriptor's own name: whatever happens to the path, this folder is meant. */
	snprintf(full, sizeof full, "/proc/self/fd/%d/.", folder);
	int number = inotify_add_watch(territory->inotify, full, WATCHED);
	if (number < 0)
		return false;
	if ((size_t)number >= territory->folder_room) {
		size_t room = (number + 1) * 2;
		territory->folders = realloc(territory->folders, room * sizeof *territory->folders);
		if (!territory->folders)
			abort();
		memset(territory->folders + territory->folder_room, 0, (room - territory->folder_room) * sizeof *territory->folders);
		territory->folder_room = room;
	}
	if (!territory->folders[number].path)
		territory->folder_count++;
	free(territory->folders[number].path);
	territory->folders[number].path = strdup(path);
	return true;
}

struct queue {
	char **paths;
	size_t first, count, room;
};

static void enqueue(struct queue *queue, const char *path)
{
	if (queue->count == queue->room) {
		queue->room = queue->room ? queue->room * 2 : 1024;
		queue->paths = realloc(queue->paths, queue->room * sizeof *queue->paths);
		if (!queue->paths)
			abort();
	}
	queue->paths[queue->count++] = strdup(path);
}

static void look_into(struct territory *territory, const char *path, const struct name *names, size_t count, struct queue *queue)
{
	/* Objects and references of git: many folders, no protected names. Its own folder is looked into, no deeper. */
	bool of_git = strcmp(base_name(path), ".git") == 0;
	int folder = open_beneath(territory, path, O_RDONLY | O_DIRECTORY);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	char below[PATH_MAX];

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", entry->d_name) >= (int)sizeof below)
			continue;
		char kind = entry->d_type == DT_DIR ? 'd' : entry->d_type == DT_LNK ? 'l' : entry->d_type == DT_UNKNOWN ? kind_at(territory, below) : 'f';
		bool found = is_protected(names, count, below, kind);
		if (found)
			remember(territory, below, kind);
		/* What is protected as a whole is not looked into: nothing can change in it. */
		if (kind == 'd' && !of_git && !found)
			enqueue(queue, below);
	}
	if (entries)
		closedir(entries);
}

/* Breadth first, so that what a bound cuts off lies deepest. */
static void explore(struct territory *territory, const char *from, const struct name *names, size_t count)
{
	struct queue queue = { 0 };

	enqueue(&queue, from);
	while (queue.first < queue.count && queue.first < MOST_FOLDERS) {
		char *path = queue.paths[queue.first++];
		/* Watched first, read second: what is made in between is seen twice, not missed. */
		if (!watch(territory, path))
			territory->unwatched = true;
		look_into(territory, path, names, count, &queue);
		free(path);
	}
	for (; queue.first < queue.count; queue.first++)
		free(queue.paths[queue.first]);
	free(queue.paths);
}

static void take_event(struct territory *territory, const struct inotify_event *event, const struct name *names, size_t count,
		       name_appeared *appeared, void *context)
{
	char path[PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW) {
		explore(territory, "", names, count);
		return;
	}
	if (event->wd < 0 || (size_t)event->wd >= territory->folder_room || !territory->folders[event->wd].path)
		return;
	if (event->mask & IN_IGNORED) {
		free(territory->folders[event->wd].path);
		territory->folders[event->wd].path = NULL;
		territory->folder_count--;
		return;
	}
	if (!(event->mask & (IN_CREATE | IN_MOVED_TO)) || event->len == 0)
		return;
	const char *folder = territory->folders[event->wd].path;
	if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", event->name) >= (int)sizeof path)
		return;
	char kind = kind_at(territory, path);
	if (!kind)
		return;
	bool found = is_protected(names, count, path, kind);
	/* Judged before it is remembered: a link that was put there just now must not be taken for the one that was. */
	if (appeared)
		appeared(territory, path, found, context);
	if (found)
		remember(territory, path, kind);
	if (kind == 'd' && !found && strcmp(base_name(folder), ".git") != 0)
		explore(territory, path, names, count);
}

static void forget_vanished(struct territory *territory)
{
	size_t kept = 0;

	for (size_t i = 0; i < territory->found_count; i++) {
		char kind = kind_at(territory, territory->found[i].path);
		if (kind) {
			territory->found[i].kind = kind;
			territory->found[kept++] = territory->found[i];
		} else {
			free(territory->found[i].path);
			free(territory->found[i].target);
		}
	}
	territory->found_count = kept;
}

/* The events alone: during a call, when a tree that cannot be watched as a whole must not be walked for each of them. */
void hear_territory(struct territory *territory, const struct name *names, size_t count, name_appeared *appeared, void *context)
{
	char events[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t length;

	territory->turn++;
	while ((length = read(territory->inotify, events, sizeof events)) > 0) {
		for (char *at = events; at < events + length;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			take_event(territory, event, names, count, appeared, context);
			at += sizeof *event + event->len;
		}
	}
	forget_vanished(territory);
}

void refresh_territory(struct territory *territory, const struct name *names, size_t count, name_appeared *appeared, void *context)
{
	if (territory->turn == 0 || territory->unwatched) {
		territory->turn++;
		explore(territory, "", names, count);
	}
	hear_territory(territory, names, count, appeared, context);
}
