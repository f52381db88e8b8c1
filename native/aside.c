/* Putting aside what a tool left that somebody else would run: renamed in place, to a name that nothing reads. */
#include "cell.h"
#include "kernel.h"
#include "scout.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CORDON_RESOLVE_BENEATH 0x08

static int open_folder_of(const struct territory *territory, const char *path, const char **name)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash ? slash - path : 1), slash ? path : ".");
	return open_how(territory->fd, folder, O_PATH | O_DIRECTORY, CORDON_RESOLVE_BENEATH | CORDON_RESOLVE_NO_SYMLINKS);
}

bool put_aside(struct territory *territory, const char *path, char *aside, size_t room)
{
	const char *name;
	CLOSE_ON_RETURN int folder = open_folder_of(territory, path, &name);
	char inert[NAME_MAX + 1];

	for (int attempt = 0; folder >= 0 && attempt < 100; attempt++) {
		/* The name is cut, not the suffix: it is what makes the file inert. */
		snprintf(inert, sizeof inert, "%.200s.set-aside-by-cordon-%llx-%d", name, (unsigned long long)time(NULL), attempt);
		if (syscall(SYS_renameat2, folder, name, folder, inert, 1 /* RENAME_NOREPLACE */) == 0) {
			const char *slash = strrchr(path, '/');
			snprintf(aside, room, "%.*s%s", (int)(slash ? slash - path + 1 : 0), path, inert);
			return true;
		}
		if (errno != EEXIST)
			return false;
	}
	return false;
}

void restore_link(struct territory *territory, const char *path)
{
	const char *name;

	for (size_t i = 0; i < territory->found_count; i++) {
		if (!territory->found[i].target || strcmp(territory->found[i].path, path) != 0)
			continue;
		CLOSE_ON_RETURN int folder = open_folder_of(territory, path, &name);
		if (folder >= 0)
			(void)!symlinkat(territory->found[i].target, folder, name);
	}
}

static void move_and_tell(struct territory *territory, const char *path, was_put_aside *moved, void *context)
{
	char aside[PATH_MAX];

	if (put_aside(territory, path, aside, sizeof aside))
		moved(territory, path, aside, context);
}

static void disarm_hooks(struct territory *territory, const char *path, was_put_aside *moved, void *context)
{
	int folder = open_how(territory->fd, path, O_RDONLY | O_DIRECTORY, CORDON_RESOLVE_BENEATH | CORDON_RESOLVE_NO_SYMLINKS);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	char hook[PATH_MAX];

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		/* git runs only names without a dot: pre-commit, not pre-commit.sample. */
		if (strchr(entry->d_name, '.'))
			continue;
		if (snprintf(hook, sizeof hook, "%s/%s", path, entry->d_name) < (int)sizeof hook)
			move_and_tell(territory, hook, moved, context);
	}
	if (entries)
		closedir(entries);
}

void disarm(struct territory *territory, const struct found *found, was_put_aside *moved, void *context)
{
	bool hooks = ends_in_name(found->path, ".git/hooks");
	bool config = ends_in_name(found->path, ".git/config");

	if (hooks && found->kind == 'd') {
		disarm_hooks(territory, found->path, moved, context);
		return;
	}
	if (config && found->kind == 'f') {
		/* O_NONBLOCK: it may be a pipe, which nobody will ever write to. */
		CLOSE_ON_RETURN int file = open_how(territory->fd, found->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, CORDON_RESOLVE_BENEATH | CORDON_RESOLVE_NO_SYMLINKS);
		if (file >= 0 && config_file_is_harmless(file))
			return;
	}
	/* A hooks folder or configuration that is a link, or anything else of a new repository that redirects git. */
	move_and_tell(territory, found->path, moved, context);
}
