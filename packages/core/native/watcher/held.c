/*
 * Names that a policy takes out of what it grants, anywhere. A mount hides or seals each in a cell. It follows its
 * file, or a folder above it, when somebody renames that; and a name that did not exist has none. So the folders that
 * they lie in are watched, all the way up.
 */
#include "watcher/held.h"
#include "watcher/territory/events.h"
#include "wire/memory.h"

#define WATCHED (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR | IN_EXCL_UNLINK)

/* One part of a path. */
struct held_name {
	unsigned long number; /* of the call */
	int folder; /* its watch */
	char name[NAME_MAX + 1];
	struct held_name *next;
	char path[]; /* the whole of it */
};

static const char *open_watch(struct held_names *held)
{
	if (held->inotify >= 0)
		return NULL;
	held->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return held->inotify >= 0 ? NULL : "carve-outs need inotify, which is used up (fs.inotify.max_user_instances)";
}

/* `length`: of the path up to the part that is held. */
static const char *hold_part(struct held_names *held, unsigned long number, const char *path, size_t length)
{
	FREE_ON_RETURN char *folder = copy_part(path, length);
	struct held_name *part = allocate(1, sizeof *part + strlen(path) + 1);
	char *slash = strrchr(folder, '/');
	snprintf(part->name, sizeof part->name, "%s", slash + 1);
	slash[slash == folder] = '\0';
	part->folder = inotify_add_watch(held->inotify, folder, WATCHED);
	if (part->folder < 0) {
		free(part);
		/* A folder that is not there, or that its user may not list, is closed to the tool as well. */
		return errno == ENOSPC || errno == ENOMEM
			       ? "carve-outs need inotify, which is used up (fs.inotify.max_user_watches)"
			       : NULL;
	}
	strcpy(part->path, path);
	part->number = number;
	part->next = held->list;
	held->list = part;
	return NULL;
}

const char *hold_name(struct held_names *held, unsigned long number, const char *path)
{
	const char *problem = open_watch(held);

	for (const char *end = strchr(path + 1, '/'); !problem && end; end = strchr(end + 1, '/'))
		problem = hold_part(held, number, path, end - path);
	return problem ? problem : hold_part(held, number, path, strlen(path));
}

static bool is_watched(const struct held_names *held, int folder)
{
	for (const struct held_name *name = held->list; name; name = name->next)
		if (name->folder == folder)
			return true;
	return false;
}

void release_names(struct held_names *held, unsigned long number)
{
	for (struct held_name **at = &held->list; *at;) {
		struct held_name *name = *at;
		if (name->number != number) {
			at = &name->next;
			continue;
		}
		*at = name->next;
		if (!is_watched(held, name->folder))
			inotify_rm_watch(held->inotify, name->folder);
		free(name);
	}
}

static void take_event(void *context, const struct inotify_event *event)
{
	const struct held_names *held = context;

	for (const struct held_name *name = held->list; name; name = name->next)
		if (event->mask & IN_Q_OVERFLOW ||
		    (event->len && name->folder == event->wd && strcmp(name->name, event->name) == 0))
			held->replaced(name->number, name->path);
}

void take_held_events(struct held_names *held)
{
	take_events(held->inotify, take_event, held);
}
