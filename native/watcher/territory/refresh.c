/*
 * A write root in use. It is walked once; from then on inotify tells what
 * changes, so that a call in a tree of hundreds of thousands of files costs no
 * more than in an empty one.
 *
 * A tool decides how much happens, so taking it in has a bound: the events that
 * were waiting when we began, and one walk through the folders they name.
 */
#include "watcher/territory/refresh.h"
#include "watcher/territory/remember.h"
#include "watcher/territory/several-names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A sealed file that somebody else gives another name is open to the tool by that. */
static void take_other_name(struct territory *territory, const char *path, const struct statx *status,
			    const struct observer *observer)
{
	const struct found *sealed = find_object(&territory->found, status);

	note_other_name(territory, path, status);
	if (sealed && strcmp(sealed->path, path) != 0)
		observer->replaced(territory, sealed->path, observer->context);
}

/* Notes which folders must be walked: a tool may move a large one to and fro, and we walk it once. */
static void take_event(struct territory *territory, const struct inotify_event *event, const struct names *names,
		       const struct observer *observer)
{
	char path[PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW) {
		territory->several->made++;
		territory->several->changes++;
		add_path(&territory->unexplored, "");
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
	if (event->len == 0)
		return;
	const char *folder = territory->folders[event->wd].path;
	if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", event->name) >= (int)sizeof path) {
		territory->too_large = true;
		return;
	}
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
		take_other_name(territory, path, &status, observer);
	bool is_protected = is_protected_name(names, path, kind);
	/* Judged before it is remembered: a link that was put there just now must not be taken for the one that was. */
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

static void explore_the_new(struct territory *territory, const struct names *names, const struct observer *observer)
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
		explore(territory, walked, names, observer);
	}
	free_paths(&new);
}

static void read_events(struct territory *territory, const struct names *names, const struct observer *observer)
{
	char events[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
	int waiting = 0;
	ssize_t length;

	if (ioctl(territory->inotify, FIONREAD, &waiting) < 0)
		return;
	for (; waiting > 0 && (length = read(territory->inotify, events, sizeof events)) > 0; waiting -= (int)length) {
		for (char *at = events; at < events + length;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			take_event(territory, event, names, observer);
			at += sizeof *event + event->len;
		}
	}
}

void refresh_territory(struct territory *territory, const struct names *names, enum thoroughness how,
		       const struct observer *observer)
{
	territory->turn++;
	if (how == EVERYTHING) {
		forget_opened(territory);
		if (territory->turn == 1 || territory->unwatched || territory->too_large) {
			territory->several->changes++;
			add_path(&territory->unexplored, "");
		}
		territory->too_large = false;
	}
	read_events(territory, names, observer);
	explore_the_new(territory, names, observer);
	if (how == EVERYTHING)
		settle_other_names(territory);
}
