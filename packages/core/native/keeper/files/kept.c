/*
 * Write roots that hold something protected, in the landlock form.
 *
 * Landlock's rules add up and cannot leave out a part of a folder: those around what is protected let nothing new be
 * made beside it. So the keeper opens, makes, renames and removes what the tool asks for, and this file says whether it
 * may. Everything is judged by where the object or its folder really lies, and then done to that very object.
 */
#include "keeper/files/kept.h"
#include "processes/proc.h"
#include "wire/open-how.h"

static bool lies_in_any(const char *path, const struct path_list *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		if (is_beneath(path, folders->at[i]))
			return true;
	return false;
}

static bool any_lies_in(const char *path, const struct path_list *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (is_beneath(others->at[i], path))
			return true;
	return false;
}

bool is_kept(const struct plan *plan, const char *path)
{
	return lies_in_any(path, &plan->kept);
}

bool may_read(const struct plan *plan, const char *path)
{
	return is_kept(plan, path) && !lies_in_any(path, &plan->hidden);
}

bool may_write(const struct plan *plan, const char *path)
{
	return may_read(plan, path) && !lies_in_any(path, &plan->sealed);
}

/* The root itself is the user's. */
bool may_move(const struct plan *plan, const char *path)
{
	return may_write(plan, path) && !any_lies_in(path, &plan->sealed) && !any_lies_in(path, &plan->hidden) &&
	       !any_lies_in(path, &plan->kept);
}

static bool is_one_of(const struct stat *status, const struct path_list *paths)
{
	struct stat other;

	for (size_t i = 0; i < paths->count; i++)
		if (lstat(paths->at[i], &other) == 0 && other.st_ino == status->st_ino &&
		    other.st_dev == status->st_dev)
			return true;
	return false;
}

/* A second name of a protected file is that file. */
bool is_second_name(const struct plan *plan, int object, bool reads)
{
	struct stat status;

	if (fstat(object, &status) < 0)
		return true;
	if (status.st_nlink < 2 || S_ISDIR(status.st_mode))
		return false;
	return is_one_of(&status, &plan->hidden) || (!reads && is_one_of(&status, &plan->sealed));
}

/* `from`: our own descriptor of the folder that a relative path begins in; if -1, it is the tool's `at`. */
static int open_folder(const struct notification *call, int at, int from, const char *path)
{
	if (from < 0 || (path && path[0] == '/'))
		return path ? open_tool_path(call, at, path, O_DIRECTORY) : open_tool_directory(call, at);
	return path ? open_how(from, path, O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS)
		    : fcntl(from, F_DUPFD_CLOEXEC, 0);
}

/* Cuts the path in two. */
static bool split_place(const struct notification *call, int at, int from, char *path, struct place *place)
{
	char folder[PATH_MAX];

	*place = (struct place){ .folder = -1 };
	size_t length = strlen(path);
	place->names_folder = length > 1 && path[length - 1] == '/';
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	errno = strlen(name) > NAME_MAX ? ENAMETOOLONG : EINVAL;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strlen(name) > NAME_MAX)
		return false;
	strcpy(place->name, name);
	if (slash)
		slash[slash == path] = '\0';
	place->folder = open_folder(call, at, from, slash ? path : NULL);
	if (place->folder < 0 || !path_of_descriptor(place->folder, folder, sizeof folder))
		return false;
	errno = ENAMETOOLONG;
	return snprintf(place->path, sizeof place->path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, place->name) <
	       (int)sizeof place->path;
}

bool find_place(const struct notification *call, int at, uint64_t pointer, struct place *place)
{
	char path[PATH_MAX];

	*place = (struct place){ .folder = -1 };
	errno = EFAULT;
	return read_tool_string(call, pointer, path, sizeof path) && split_place(call, at, -1, path, place);
}

/* As many as the kernel follows. */
#define MOST_LINKS 40

bool find_place_to_make(const struct notification *call, int at, const char *path, bool follows, struct place *place)
{
	char rest[PATH_MAX];

	snprintf(rest, sizeof rest, "%s", path);
	if (!split_place(call, at, -1, rest, place))
		return false;
	for (int links = 0; follows && !place->names_folder; links++) {
		ssize_t length = readlinkat(place->folder, place->name, rest, sizeof rest - 1);
		if (length < 0)
			return errno == EINVAL || errno == ENOENT; /* no link */
		rest[length] = '\0';
		CLOSE_ON_RETURN int from = place->folder;
		errno = ELOOP;
		place->folder = -1;
		if (links == MOST_LINKS || !split_place(call, AT_FDCWD, from, rest, place))
			return false;
	}
	return true;
}

mode_t without_umask(const struct notification *call, mode_t mode)
{
	char text[4096];

	read_proc(text, sizeof text, "/proc/%d/status", tool_in_proc(call));
	const char *line = strstr(text, "\nUmask:");
	return mode & ~(line ? (mode_t)strtoul(line + 7, NULL, 8) : 077);
}
