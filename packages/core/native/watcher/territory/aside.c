/* Putting aside what a tool left that somebody else would run: renamed in place, to a name that nothing reads. */
#include "watcher/territory/aside.h"

#include <sys/random.h>

static int rename_in(struct territory *territory, const char *path, int folder, const char *name, const char *inert)
{
	if (renameat2(folder, name, folder, inert, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EACCES)
		return -1;
	/* The tool took the right to write from the folder. */
	open_up(territory, path);
	return renameat2(folder, name, folder, inert, RENAME_NOREPLACE);
}

enum put_aside put_aside(struct territory *territory, const char *path, char *aside, size_t room)
{
	const char *name, *slash = strrchr(path, '/');
	CLOSE_ON_RETURN int folder = open_folder_of(territory, path, &name);
	char inert[NAME_MAX + 1];
	uint64_t unforeseen = 0;

	for (int attempt = 0; folder >= 0 && attempt < 100; attempt++) {
		/* Random, because a name that could be guessed could be taken before. */
		if (getrandom(&unforeseen, sizeof unforeseen, 0) != sizeof unforeseen)
			break;
		snprintf(inert, sizeof inert, "%.200s" ASIDE_MARK "%016lx", name, unforeseen);
		if (rename_in(territory, path, folder, name, inert) == 0) {
			snprintf(aside, room, "%.*s%s", (int)(slash ? slash - path + 1 : 0), path, inert);
			return PUT_ASIDE;
		}
		if (errno == ENOENT)
			return NOTHING_THERE;
		if (errno != EEXIST)
			break;
	}
	return kind_at(territory, path) ? LEFT_THERE : NOTHING_THERE;
}

bool restore_link(struct territory *territory, const char *path)
{
	const struct found *known = find(&territory->found, path);
	const char *name;

	if (!known || !known->target)
		return false;
	CLOSE_ON_RETURN int folder = open_folder_of(territory, path, &name);
	return folder >= 0 && symlinkat(known->target, folder, name) == 0;
}

void move_and_tell(struct territory *territory, const char *path, was_put_aside *moved, void *context)
{
	char aside[PATH_MAX];

	switch (put_aside(territory, path, aside, sizeof aside)) {
	case PUT_ASIDE: moved(territory, path, aside, context); break;
	case LEFT_THERE: moved(territory, path, NULL, context); break;
	case NOTHING_THERE: break;
	}
}
