/*
 * Walking a write root, and putting its folders under watch. All paths are
 * opened beneath the root and through no symbolic link: a tool may be
 * rearranging the tree while we look.
 */
#include "watcher/territory/explore.h"
#include "watcher/territory/remember.h"
#include "watcher/territory/several-names.h"
#include "wire/memory.h"
#include "wire/scope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define WATCHED (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK)

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
		return errno == EACCES; /* closed: remembered as such when it is looked into */
	if ((size_t)number >= territory->folder_room) {
		size_t room = (number + 1) * 2;
		territory->folders = resize(territory->folders, room * sizeof *territory->folders);
		memset(territory->folders + territory->folder_room, 0,
		       (room - territory->folder_room) * sizeof *territory->folders);
		territory->folder_room = room;
	}
	if (!territory->folders[number].path)
		territory->folder_count++;
	free(territory->folders[number].path);
	territory->folders[number].path = copy_text(path);
	return true;
}

struct walk {
	struct territory *territory;
	const struct names *names;
	const struct observer *observer;
	struct paths folders;
};

static void look_at(struct walk *walk, const char *path, char kind)
{
	if (is_protected_name(walk->names, path, kind) && !find(&walk->territory->found, path)) {
		/* Judged before it is remembered: a link that was put there just now must not be taken for the one that
		 * was. */
		if (walk->observer->appeared(walk->territory, path, true, walk->observer->context))
			return;
		remember(walk->territory, path, kind);
	}
	/* Also in what is protected as a whole: a policy may permit it, and its files may have other names. */
	if (kind == 'd')
		add_path(&walk->folders, path);
}

/* A file that was put into a new folder before that was watched. At the first look everything is looked through for
 * such. */
static void look_for_other_name(struct walk *walk, int folder, const struct dirent *entry, const char *path)
{
	struct statx status;

	if (walk->territory->turn == 1 || entry->d_type == DT_LNK)
		return;
	if (statx(folder, entry->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &status) == 0 &&
	    has_other_names(&status))
		note_other_name(walk->territory, path, &status);
}

static void look_into(struct walk *walk, const char *path)
{
	int folder = open_beneath(walk->territory, path, O_RDONLY | O_DIRECTORY);
	char below[PATH_MAX];

	if (folder < 0 && errno == EACCES)
		remember_closed(walk->territory, path);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", entry->d_name) >=
		    (int)sizeof below) {
			walk->territory->too_large = true;
			continue;
		}
		char kind = entry->d_type == DT_DIR	  ? 'd'
			    : entry->d_type == DT_LNK	  ? 'l'
			    : entry->d_type == DT_UNKNOWN ? kind_at(walk->territory, below)
							  : 'f';
		if (kind == 'f')
			look_for_other_name(walk, folder, entry, below);
		look_at(walk, below, kind);
	}
	if (entries)
		closedir(entries);
}

/* Breadth first, so that what a bound cuts off lies deepest. */
void explore(struct territory *territory, const char *from, const struct names *names, const struct observer *observer)
{
	struct walk walk = { territory, names, observer, { 0 } };

	territory->grown = territory->turn;
	add_path(&walk.folders, from);
	for (size_t i = 0; i < walk.folders.count; i++) {
		if (i == MOST_FOLDERS) {
			territory->too_large = true;
			break;
		}
		/* Watched first, read second: what is made in between is seen twice, not missed. */
		if (!watch(territory, walk.folders.list[i]))
			territory->unwatched = true;
		look_into(&walk, walk.folders.list[i]);
	}
	free_paths(&walk.folders);
}
