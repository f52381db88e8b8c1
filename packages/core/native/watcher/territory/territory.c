/* One write root: its folders under watch, and the protected names found in them. */
#include "watcher/territory/territory.h"
#include "wire/memory.h"
#include "wire/open-how.h"

#include <sys/inotify.h>

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
	close_descriptor(&territory->fd);
	close_descriptor(&territory->inotify);
	for (size_t i = 0; i < territory->folder_room; i++)
		free(territory->folders[i]);
	free(territory->folders);
	free_findings(&territory->found);
	free_paths(&territory->unexplored);
	free_paths(&territory->unsettled_names);
	free_paths(&territory->set_aside);
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
	struct stat status;

	if (folder < 0 || fstat(folder, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 0700) == 0700)
		return;
	(void)!chmod(path_to(folder).text, (status.st_mode & 07777) | 0700);
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
	struct stat now;

	if (fstat(territory->fd, &now) < 0 || now.st_uid != geteuid() ||
	    (now.st_mode & territory->mode & 0700) == (territory->mode & 0700))
		return;
	(void)!chmod(path_to(territory->fd).text, (now.st_mode & 07777) | (territory->mode & 0700));
}

int open_beneath(struct territory *territory, const char *path, int flags)
{
	int object = try_beneath(territory, path, flags);

	if (object >= 0 || errno != EACCES)
		return object;
	open_up(territory, path);
	return try_beneath(territory, path, flags);
}

int open_folder_of(struct territory *territory, const char *path, const char **name)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash ? slash - path : 0), path);
	return open_beneath(territory, folder, O_PATH | O_DIRECTORY);
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

char kind_of_entry(struct territory *territory, const struct dirent *entry, const char *path)
{
	switch (entry->d_type) {
	case DT_DIR: return 'd';
	case DT_LNK: return 'l';
	case DT_UNKNOWN: return kind_at(territory, path);
	default: return 'f';
	}
}

char *read_link(struct territory *territory, const char *path)
{
	CLOSE_ON_RETURN int link = open_beneath(territory, path, O_PATH);
	char target[PATH_MAX];
	ssize_t length = link < 0 ? -1 : readlinkat(link, "", target, sizeof target - 1);

	return length < 0 ? NULL : copy_part(target, length);
}
