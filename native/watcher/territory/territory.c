/* One write root, and what lies beneath it. */
#include "watcher/territory/territory.h"
#include "wire/memory.h"
#include "wire/open-how.h"
#include "wire/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

struct territory *open_territory(const char *root, struct several_names *several)
{
	struct territory *territory = allocate(1, sizeof *territory);

	territory->several = several;
	territory->root = copy_text(root);
	territory->fd = open_how(AT_FDCWD, root, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	/* Without one (a user has 128, in all containers) nothing can be watched, and every call looks anew. */
	territory->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (territory->fd >= 0)
		return territory;
	int problem = errno;
	close_territory(territory);
	errno = problem;
	return NULL;
}

void close_territory(struct territory *territory)
{
	if (territory->fd >= 0)
		close(territory->fd);
	if (territory->inotify >= 0)
		close(territory->inotify);
	for (size_t i = 0; i < territory->folder_room; i++)
		free(territory->folders[i].path);
	free(territory->folders);
	free_findings(&territory->found);
	free_paths(&territory->unexplored);
	free_paths(&territory->unsettled_names);
	free(territory->root);
	free(territory);
}

static int try_beneath(const struct territory *territory, const char *path, int flags)
{
	return open_how(territory->fd, *path ? path : ".", flags | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

static void give_back(const struct territory *territory, const char *path)
{
	CLOSE_ON_RETURN int folder = try_beneath(territory, path, O_PATH | O_DIRECTORY);
	char descriptor[64];
	struct stat status;

	if (folder < 0 || fstat(folder, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 0700) == 0700)
		return;
	snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", folder);
	(void)!chmod(descriptor, (status.st_mode & 07777) | 0700);
}

void open_up(struct territory *territory, const char *path)
{
	char part[PATH_MAX];

	/* Closed before any call began: by the user, who may have a reason. It is sealed. */
	if (!territory->calls || is_in_closed(&territory->found, path))
		return;
	for (const char *end = path; end; end = *end ? strchr(end + 1, '/') : NULL) {
		snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
		give_back(territory, part);
	}
	give_back(territory, path);
}

void note_root(struct territory *territory)
{
	struct stat now;

	if (!territory->calls && fstat(territory->fd, &now) == 0)
		territory->mode = now.st_mode;
}

void keep_root_open(struct territory *territory)
{
	char descriptor[64];
	struct stat now;

	if (fstat(territory->fd, &now) < 0 || now.st_uid != geteuid() ||
	    (now.st_mode & territory->mode & 0700) == (territory->mode & 0700))
		return;
	snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", territory->fd);
	(void)!chmod(descriptor, (now.st_mode & 07777) | (territory->mode & 0700));
}

int open_beneath(struct territory *territory, const char *path, int flags)
{
	int object = try_beneath(territory, path, flags);

	if (object >= 0 || errno != EACCES)
		return object;
	open_up(territory, path);
	return try_beneath(territory, path, flags);
}

bool status_at(struct territory *territory, const char *path, struct statx *status)
{
	CLOSE_ON_RETURN int object = open_beneath(territory, path, O_PATH);

	return object >= 0 &&
	       statx(object, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, status) == 0;
}

char kind_of(const struct statx *status)
{
	return S_ISDIR(status->stx_mode) ? 'd' : S_ISLNK(status->stx_mode) ? 'l' : 'f';
}

char kind_at(struct territory *territory, const char *path)
{
	struct statx status;

	return status_at(territory, path, &status) ? kind_of(&status) : 0;
}

char *read_link(struct territory *territory, const char *path)
{
	CLOSE_ON_RETURN int link = open_beneath(territory, path, O_PATH);
	char target[PATH_MAX];
	ssize_t length = link < 0 ? -1 : readlinkat(link, "", target, sizeof target - 1);

	return length < 0 ? NULL : copy_part(target, length);
}
