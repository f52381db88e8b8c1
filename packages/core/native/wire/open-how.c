/* openat2(), and the same by hand where it is refused: inside another cell, and in older containers. */
#include "wire/open-how.h"

#include <linux/magic.h>
#include <sys/vfs.h>

/* Name by name, none of them a link. */
static int open_by_names(int at, const char *path, int flags)
{
	char names[PATH_MAX];
	struct stat status;
	char *rest, *name;
	bool has_names = path[strspn(path, "/")] != '\0';

	if (strlen(path) >= sizeof names) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(names, path);
	int found = openat(at, path[0] == '/' ? "/" : ".", (has_names ? O_PATH | O_DIRECTORY : flags) | O_CLOEXEC);
	for (name = strtok_r(names, "/", &rest); name && found >= 0;) {
		char *next = strtok_r(NULL, "/", &rest);
		int folder = found;
		if (strcmp(name, "..") == 0) {
			errno = EXDEV;
			found = -1;
		} else {
			found = openat(folder, name,
				       next ? O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC
					    : flags | O_NOFOLLOW | O_CLOEXEC);
		}
		int error = errno;
		close(folder);
		errno = error;
		name = next;
	}
	/* O_PATH opens a link itself, which only O_NOFOLLOW asks for. */
	if (found >= 0 && !(flags & O_NOFOLLOW) && (fstat(found, &status) < 0 || S_ISLNK(status.st_mode))) {
		close(found);
		errno = ELOOP;
		return -1;
	}
	return found;
}

int open_how(int at, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve };
	int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof how);

	/* ENOSYS inside another cell, EPERM in containers whose profile does not know the call. */
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	/* A caller that lets links be followed judges the object, not its name. */
	return resolve & RESOLVE_NO_SYMLINKS ? open_by_names(at, path, flags) : openat(at, path, flags | O_CLOEXEC);
}

bool is_of_proc(int fd)
{
	struct statfs found;

	return fstatfs(fd, &found) == 0 && found.f_type == PROC_SUPER_MAGIC;
}
