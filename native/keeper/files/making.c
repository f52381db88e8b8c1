/* Calls that make, rename and remove names in write roots that hold something protected, carried out by the keeper; see
 * kept.c. */
#include "keeper/files/making.h"
#include "keeper/files/kept.h"
#include "wire/scope.h"
#include "wire/syscall-numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a call keeps its arguments. -1 is none: then the folder is the working one, and there are no flags. */
struct name_call {
	int number;
	int at, path;
	int second_at, second_path;
	int extra; /* mode, flags or the text of a link */
};

static const struct name_call name_calls[] = {
	{ __NR_mkdirat, 0, 1, -1, -1, 2 },   { __NR_unlinkat, 0, 1, -1, -1, 2 }, { __NR_mknodat, 0, 1, -1, -1, 2 },
	{ __NR_symlinkat, 1, 2, -1, -1, 0 }, { __NR_linkat, 0, 1, 2, 3, 4 },	 { __NR_renameat2, 0, 1, 2, 3, 4 },
#ifdef __NR_renameat
	{ __NR_renameat, 0, 1, 2, 3, -1 },
#endif
#ifdef __x86_64__
	{ __NR_mkdir, -1, 0, -1, -1, 1 },    { __NR_unlink, -1, 0, -1, -1, -1 }, { __NR_rmdir, -1, 0, -1, -1, -1 },
	{ __NR_mknod, -1, 0, -1, -1, 1 },    { __NR_symlink, -1, 1, -1, -1, 0 }, { __NR_link, -1, 0, -1, 1, -1 },
	{ __NR_rename, -1, 0, -1, 1, -1 },
#endif
};

static const struct name_call *name_call_of(int number)
{
	for (size_t i = 0; i < sizeof name_calls / sizeof *name_calls; i++)
		if (name_calls[i].number == number)
			return &name_calls[i];
	return NULL;
}

static int folder_argument(const struct notification *call, int index)
{
	return index < 0 ? AT_FDCWD : int_argument(call, index);
}

static int make_link(const struct notification *call, const struct place *place, uint64_t text)
{
	char target[PATH_MAX];

	if (!read_tool_string(call, text, target, sizeof target))
		return EFAULT;
	if (place->names_folder)
		return ENOENT;
	return symlinkat(target, place->folder, place->name) < 0 ? errno : 0;
}

static int remove_name(const struct notification *call, const struct place *place, int flags)
{
	if (place->names_folder && !(flags & AT_REMOVEDIR))
		return ENOTDIR;
	if (!may_move(call->plan, place->path))
		return EACCES;
	return unlinkat(place->folder, place->name, flags & AT_REMOVEDIR) < 0 ? errno : 0;
}

/* Between what is ours to judge and what Landlock judges nothing is moved: programs copy then. */
static int rename_name(const struct notification *call, const struct place *from, const struct place *to,
		       unsigned flags)
{
	if (!is_kept(call->plan, from->path) || !is_kept(call->plan, to->path))
		return EXDEV;
	if (!may_move(call->plan, from->path) || !may_move(call->plan, to->path))
		return EACCES;
	struct stat status;
	if ((from->names_folder || to->names_folder) &&
	    fstatat(from->folder, from->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode))
		return ENOTDIR;
	return syscall(SYS_renameat2, from->folder, from->name, to->folder, to->name, flags) < 0 ? errno : 0;
}

/* `object`: what gets a second name, or a first one, when it was made without (O_TMPFILE). */
static int name_object(const struct notification *call, int object, const struct place *to)
{
	char path[PATH_MAX], descriptor[64];
	struct stat status;

	if (fstat(object, &status) < 0 || !path_of_descriptor(object, path, sizeof path))
		return EACCES;
	bool nameless = S_ISREG(status.st_mode) && status.st_nlink == 0;
	if (!nameless && !is_kept(call->plan, path))
		return EXDEV;
	if ((!nameless && !may_write(call->plan, path)) || is_second_name(call->plan, object, false))
		return EACCES;
	snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", object);
	return linkat(AT_FDCWD, descriptor, to->folder, to->name, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
}

static int open_source(const struct notification *call, const struct name_call *where)
{
	const __u64 *arguments = call->request->data.args;
	int flags = where->extra < 0 ? 0 : int_argument(call, where->extra);
	char path[PATH_MAX];

	errno = EFAULT;
	if (!read_tool_string(call, arguments[where->path], path, sizeof path))
		return -1;
	if (!*path && flags & AT_EMPTY_PATH)
		return open_tool_directory(call, folder_argument(call, where->at));
	return open_tool_path(call, folder_argument(call, where->at), path, flags & AT_SYMLINK_FOLLOW ? 0 : O_NOFOLLOW);
}

static bool answer_linking(const struct notification *call, const struct name_call *where)
{
	struct place to;
	bool found = find_place(call, folder_argument(call, where->second_at),
				call->request->data.args[where->second_path], &to);
	CLOSE_ON_RETURN int folder = to.folder;

	if (!found || to.names_folder || !is_kept(call->plan, to.path))
		return false;
	if (!may_write(call->plan, to.path)) {
		respond(call, 0, EACCES);
		return true;
	}
	CLOSE_ON_RETURN int object = open_source(call, where);
	respond(call, 0, object < 0 ? errno : name_object(call, object, &to));
	return true;
}

static bool answer_renaming(const struct notification *call, const struct name_call *where)
{
	const __u64 *arguments = call->request->data.args;
	struct place from, to;
	bool found = find_place(call, folder_argument(call, where->at), arguments[where->path], &from);
	CLOSE_ON_RETURN int old = from.folder;
	found = found && find_place(call, folder_argument(call, where->second_at), arguments[where->second_path], &to);
	CLOSE_ON_RETURN int new = found ? to.folder : -1;

	if (!found || (!is_kept(call->plan, from.path) && !is_kept(call->plan, to.path)))
		return false;
	respond(call, 0, rename_name(call, &from, &to, where->extra < 0 ? 0 : unsigned_argument(call, where->extra)));
	return true;
}

static int make_or_remove(const struct notification *call, const struct place *place, uint64_t extra)
{
	switch (call->request->data.nr) {
	case __NR_mkdirat:
#ifdef __x86_64__
	case __NR_mkdir:
#endif
		return mkdirat(place->folder, place->name, without_umask(call, (mode_t)extra)) < 0 ? errno : 0;
	case __NR_mknodat:
#ifdef __x86_64__
	case __NR_mknod:
#endif
		if (place->names_folder)
			return ENOENT;
		return mknodat(place->folder, place->name, without_umask(call, (mode_t)extra), 0) < 0 ? errno : 0;
	case __NR_symlinkat:
#ifdef __x86_64__
	case __NR_symlink:
#endif
		return make_link(call, place, extra);
	case __NR_unlinkat: return remove_name(call, place, (int)extra);
#ifdef __x86_64__
	case __NR_unlink: return remove_name(call, place, 0);
	case __NR_rmdir: return remove_name(call, place, AT_REMOVEDIR);
#endif
	default: return ENOSYS;
	}
}

bool answer_making(const struct notification *call)
{
	const struct name_call *where = name_call_of(call->request->data.nr);
	struct place place;

	if (!where || call->plan->kept_count == 0)
		return false;
	switch (where->number) {
	case __NR_linkat:
#ifdef __x86_64__
	case __NR_link:
#endif
		return answer_linking(call, where);
	case __NR_renameat2:
#ifdef __NR_renameat
	case __NR_renameat:
#endif
#ifdef __x86_64__
	case __NR_rename:
#endif
		return answer_renaming(call, where);
	}
	bool found = find_place(call, folder_argument(call, where->at), call->request->data.args[where->path], &place);
	CLOSE_ON_RETURN int folder = place.folder;
	if (!found || !is_kept(call->plan, place.path))
		return false;
	respond(call, 0,
		may_write(call->plan, place.path)
			? make_or_remove(call, &place, where->extra < 0 ? 0 : call->request->data.args[where->extra])
			: EACCES);
	return true;
}
