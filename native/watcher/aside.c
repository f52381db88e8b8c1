/* Putting aside what a tool left that somebody else would run: renamed in place, to a name that nothing reads. */
#include "wire/cell.h"
#include "wire/kernel.h"
#include "watcher/watcher.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

static int open_folder_of(struct territory *territory, const char *path, const char **name)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash ? slash - path : 0), path);
	return open_beneath(territory, folder, O_PATH | O_DIRECTORY);
}

static int rename_in(struct territory *territory, const char *path, int folder, const char *name, const char *inert)
{
	if (syscall(SYS_renameat2, folder, name, folder, inert, 1 /* RENAME_NOREPLACE */) == 0)
		return 0;
	if (errno != EACCES)
		return -1;
	/* The tool took the right to write from the folder. */
	open_up(territory, path);
	return syscall(SYS_renameat2, folder, name, folder, inert, 1);
}

enum put_aside put_aside(struct territory *territory, const char *path, char *aside, size_t room)
{
	const char *name, *slash = strrchr(path, '/');
	CLOSE_ON_RETURN int folder = open_folder_of(territory, path, &name);
	char inert[NAME_MAX + 1];
	unsigned long long unforeseen = 0;

	for (int attempt = 0; folder >= 0 && attempt < 100; attempt++) {
		/* The name is cut, not the suffix: it is what makes the file inert. */
		/* A name that could be guessed could be taken before. */
		if (getrandom(&unforeseen, sizeof unforeseen, 0) != sizeof unforeseen)
			break;
		snprintf(inert, sizeof inert, "%.200s.set-aside-by-cordon-%016llx", name, unforeseen);
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
	case PUT_ASIDE:
		moved(territory, path, aside, context);
		break;
	case LEFT_THERE:
		moved(territory, path, NULL, context);
		break;
	case NOTHING_THERE:
		break;
	}
}

void disarm_hooks(struct territory *territory, const char *path, was_put_aside *moved, void *context)
{
	int folder = open_beneath(territory, path, O_RDONLY | O_DIRECTORY);
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
	bool config = ends_in_name(found->path, ".git/config") || ends_in_name(found->path, ".git/config.worktree");
	bool repositories = ends_in_name(found->path, ".git/modules") || ends_in_name(found->path, ".git/worktrees");

	if (hooks && found->kind == 'd') {
		disarm_hooks(territory, found->path, moved, context);
		return;
	}
	if (repositories && found->kind == 'd') {
		disarm_repositories(territory, found->path, moved, context);
		return;
	}
	if (ends_in_name(found->path, ".git") && found->kind == 'f' && leads_to_own_repository(territory, found->path))
		return;
	if (config && found->kind == 'f') {
		/* O_NONBLOCK: it may be a pipe, which nobody will ever write to. */
		CLOSE_ON_RETURN int file = open_beneath(territory, found->path, O_RDONLY | O_NONBLOCK);
		if (file >= 0 && config_file_is_harmless(file, NULL))
			return;
	}
	/* A hooks folder or configuration that is a link, or anything else of a new repository that redirects git. */
	move_and_tell(territory, found->path, moved, context);
}
