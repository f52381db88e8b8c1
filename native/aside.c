/* Putting aside what a tool left that somebody else would run: renamed in place, to a name that nothing reads. */
#include "cell.h"
#include "kernel.h"
#include "scout.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/*
 * Settings of a new repository that make git run nothing. A list of what is
 * harmless, because the list of what is not grows with every version of git.
 */
static bool is_harmless(const char *section, const char *key)
{
	static const char *const harmless[] = {
		"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase",
		"core.precomposeunicode", "core.symlinks", "core.autocrlf", "core.eol", "core.abbrev", "core.compression",
		"remote.url", "remote.fetch", "remote.tagopt", "remote.prune", "remote.pushurl", "remote.promisor", "remote.partialclonefilter",
		"branch.remote", "branch.merge", "branch.rebase", "branch.description", "submodule.url", "submodule.active", "submodule.branch",
		"extensions.objectformat", "extensions.partialclone", "extensions.worktreeconfig", "extensions.refstorage",
		"user.name", "user.email", "init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "gc.auto", "index.version", "advice.detachedhead",
	};
	char full[256];

	snprintf(full, sizeof full, "%s.%s", section, key);
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (strcasecmp(full, harmless[i]) == 0)
			return true;
	return false;
}

/*
 * `[name]` or `[name "anything"]`, and nothing behind it: git also reads a setting
 * on the same line, and old names with dots, which this does not.
 */
static bool read_section(const char *line, char *section, size_t room)
{
	size_t length = strspn(line + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	const char *at = line + 1 + length;

	if (length == 0 || length >= room)
		return false;
	snprintf(section, room, "%.*s", (int)length, line + 1);
	if (strncmp(at, " \"", 2) == 0) {
		for (at += 2; *at && *at != '"'; at++)
			if (*at == '\\' && *++at == '\0')
				return false;
		if (*at++ != '"')
			return false;
	}
	return strcmp(at, "]") == 0;
}

/* One pass over lines: anything that is not plainly harmless makes the file suspect. */
static bool config_is_harmless(FILE *file)
{
	char line[4096], section[128] = "", key[128];

	while (fgets(line, sizeof line, file)) {
		char *at = line + strspn(line, " \t\r\n");
		size_t length = strlen(at);
		/* A line that does not end here goes on where we would take it for another (also: behind a NUL byte). */
		if (!strchr(line, '\n') && !feof(file))
			return false;
		if (*at == '\0' || *at == '#' || *at == ';')
			continue;
		while (length && isspace((unsigned char)at[length - 1]))
			at[--length] = '\0';
		/* Continued on the next line. */
		if (at[length - 1] == '\\')
			return false;
		if (*at == '[') {
			if (!read_section(at, section, sizeof section))
				return false;
			continue;
		}
		snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " \t="), at);
		if (!is_harmless(section, key))
			return false;
		/* `ext::` and the like name a program instead of a place. */
		if (strstr(at, "::"))
			return false;
	}
	return !ferror(file);
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
		int fd = open_how(territory->fd, found->path, O_RDONLY | O_NOFOLLOW, CORDON_RESOLVE_BENEATH | CORDON_RESOLVE_NO_SYMLINKS);
		FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
		bool harmless = file && config_is_harmless(file);
		if (file)
			fclose(file);
		if (harmless)
			return;
	}
	/* A hooks folder or configuration that is a link, or anything else of a new repository that redirects git. */
	move_and_tell(territory, found->path, moved, context);
}
