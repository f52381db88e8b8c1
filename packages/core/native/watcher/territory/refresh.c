/*
 * A write root in use. It is walked once; from then on inotify tells what changes, so that a call in a tree of hundreds
 * of thousands of files costs no more than in an empty one.
 *
 * A tool decides how much happens, so the work has a bound: the events that were waiting when we began, and one walk
 * through the folders they name.
 */
#include "watcher/territory/refresh.h"
#include "watcher/territory/aside.h"
#include "watcher/territory/events.h"
#include "watcher/territory/names.h"
#include "watcher/territory/remember.h"
#include "watcher/territory/several-names.h"
#include "wire/memory.h"

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
	if (!territory->folders[number])
		territory->folder_count++;
	free(territory->folders[number]);
	territory->folders[number] = copy_text(path);
	return true;
}

/* A file that was put into a new folder before that was watched. The first look counts none. */
static void look_for_other_name(struct territory *territory, int folder, const struct dirent *entry, const char *path)
{
	struct statx status;

	if (territory->turn != 1 && entry->d_type != DT_LNK &&
	    statx(folder, entry->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &status) == 0 &&
	    has_other_names(&status))
		note_other_name(territory, path, &status);
}

/* Adds the folders in it to the list. */
static void look_into(struct territory *territory, const char *path, struct paths *folders)
{
	const struct observer *observer = territory->observer;
	int folder = open_beneath(territory, path, O_RDONLY | O_DIRECTORY);
	char below[PATH_MAX];

	if (folder < 0 && errno == EACCES)
		remember_closed(territory, path);
	CLOSE_FOLDER_ON_RETURN DIR *entries = open_entries(folder);
	for (struct dirent *entry; (entry = next_entry(entries));) {
		if (snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", entry->d_name) >=
		    (int)sizeof below) {
			territory->too_large = true;
			continue;
		}
		char kind = kind_of_entry(territory, entry, below);
		if (kind == 'f')
			look_for_other_name(territory, folder, entry, below);
		if (is_protected_name(observer->names, below, kind) && !find(&territory->found, below)) {
			/* Judged before it is remembered: a new link must not be taken for the old one. */
			if (observer->appeared(territory, below, true, observer->context))
				continue;
			remember(territory, below, kind);
		}
		/* Also in what is protected as a whole: a policy may permit it, and its files may have other names. */
		if (kind == 'd')
			add_path(folders, below);
	}
}

/* In the first walk, all that is there was there before. */
static void tell_brought(struct territory *territory, const char *folder)
{
	if (territory->turn != 1)
		territory->observer->brought(territory, folder, territory->observer->context);
}

/* Breadth first, so that what a bound cuts off lies deepest. */
static void explore(struct territory *territory, const char *from)
{
	struct paths folders = { 0 };

	territory->grown = territory->turn;
	/* At once, because it may be a large one; and again when all of it is watched. */
	tell_brought(territory, from);
	add_path(&folders, from);
	for (size_t i = 0; i < folders.count; i++) {
		if (i == MOST_FOLDERS) {
			territory->too_large = true;
			break;
		}
		/* Watched first, read second: what is made in between is seen twice, not missed. */
		if (!watch(territory, folders.list[i]))
			territory->unwatched = true;
		look_into(territory, folders.list[i], &folders);
	}
	free_paths(&folders);
	tell_brought(territory, from);
}

/* A sealed file that somebody else gives another name is open to the tool by that. */
static void take_other_name(struct territory *territory, const char *path, const struct statx *status)
{
	const struct found *sealed = find_object(&territory->found, status);

	note_other_name(territory, path, status);
	if (sealed && strcmp(sealed->path, path) != 0)
		territory->observer->replaced(territory, sealed->path, territory->observer->context);
}

/* The watcher of another host works in the same folder, and moves what its calls must not make. */
static void take_move(struct territory *territory, const struct inotify_event *event, const char *path)
{
	const struct observer *observer = territory->observer;
	size_t length = strlen(territory->moved);

	if (event->mask & IN_MOVED_FROM) {
		territory->moving = event->cookie;
		snprintf(territory->moved, sizeof territory->moved, "%s", path);
	}
	/* A name that was cut is not recognised: nobody makes one that long. */
	if (!(event->mask & IN_MOVED_TO) || event->cookie != territory->moving ||
	    strncmp(path, territory->moved, length) != 0 || strncmp(path + length, ASIDE_MARK, strlen(ASIDE_MARK)) != 0)
		return;
	for (size_t i = 0; i < territory->set_aside.count; i++)
		if (strcmp(territory->set_aside.list[i], path) == 0)
			return;
	observer->set_aside(territory, territory->moved, path, observer->context);
}

/* Notes which folders must be walked: a tool may move a large one to and fro, and we walk it once. */
static void take_event(void *context, const struct inotify_event *event)
{
	struct territory *territory = context;
	const struct observer *observer = territory->observer;
	char path[PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW) {
		territory->several->made++;
		territory->several->changes++;
		add_path(&territory->unexplored, "");
		return;
	}
	if (event->wd < 0 || (size_t)event->wd >= territory->folder_room || !territory->folders[event->wd])
		return;
	if (event->mask & IN_IGNORED) {
		free(territory->folders[event->wd]);
		territory->folders[event->wd] = NULL;
		territory->folder_count--;
		return;
	}
	if (event->len == 0)
		return;
	const char *folder = territory->folders[event->wd];
	if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", event->name) >= (int)sizeof path) {
		territory->too_large = true;
		return;
	}
	take_move(territory, event, path);
	/* With a folder goes what is sealed in it. A new one takes nothing away, and a tool may make very many. */
	bool is_old_folder = event->mask & IN_ISDIR && !(event->mask & IN_CREATE);
	if (is_old_folder || find(&territory->found, path))
		observer->replaced(territory, path, observer->context);
	struct statx status;
	if (!(event->mask & (IN_CREATE | IN_MOVED_TO)) || !status_at(territory, path, &status))
		return;
	char kind = kind_of(&status);
	territory->grown = territory->turn;
	if (has_other_names(&status))
		take_other_name(territory, path, &status);
	bool is_protected = is_protected_name(observer->names, path, kind);
	/* Judged before it is remembered: a new link must not be taken for the old one. */
	if (observer->appeared(territory, path, is_protected, observer->context))
		return;
	if (is_protected)
		remember(territory, path, kind);
	if (kind != 'd')
		return;
	/* More than are looked into at once: then all of it is. */
	if (territory->unexplored.count == MOST_FOLDERS) {
		free_paths(&territory->unexplored);
		path[0] = '\0';
	}
	add_path(&territory->unexplored, path);
}

/* A folder before what lies in it. */
static int by_place(const void *left, const void *right)
{
	const char *a = *(char *const *)left, *b = *(char *const *)right;

	while (*a && *a == *b)
		a++, b++;
	return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

static void explore_the_new(struct territory *territory)
{
	struct paths new = territory->unexplored;
	const char *walked = NULL;

	territory->unexplored = (struct paths){ 0 };
	if (new.count)
		qsort(new.list, new.count, sizeof *new.list, by_place);
	for (size_t i = 0; i < new.count; i++) {
		if (walked && lies_in(new.list[i], walked))
			continue;
		walked = new.list[i];
		explore(territory, walked);
	}
	free_paths(&new);
}

void refresh_territory(struct territory *territory, enum thoroughness how, const struct observer *observer)
{
	territory->observer = observer;
	territory->turn++;
	if (how == EVERYTHING) {
		forget_opened(territory);
		if (territory->turn == 1 || territory->unwatched || territory->too_large) {
			territory->several->changes++;
			add_path(&territory->unexplored, "");
		}
		territory->too_large = false;
	}
	take_events(territory->inotify, take_event, territory);
	explore_the_new(territory);
	if (how == EVERYTHING)
		settle_other_names(territory);
}
