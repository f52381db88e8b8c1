/*
 * Calls that make, rename and remove names in write roots that hold something protected, carried out by the keeper; see
 * kept.c.
 */
#include "keeper/files/making.h"
#include "keeper/files/kept.h"

static const struct name_call name_calls[] = {
	{ __NR_mkdirat, { { MAKES, 0, 1 } }, 2 },
	{ __NR_mknodat, { { MAKES, 0, 1 } }, 2 },
	{ __NR_symlinkat, { { MAKES, 1, 2 } }, 0 },
	{ __NR_unlinkat, { { REMOVES, 0, 1 } }, 2 },
	{ __NR_linkat, { { NOTHING, 0, 1 }, { MAKES, 2, 3 } }, 4 },
	{ __NR_renameat2, { { REMOVES, 0, 1 }, { REPLACES, 2, 3 } }, 4 },
	{ __NR_truncate, { { EMPTIES, -1, 0 } }, -1 },
#ifdef __NR_renameat
	{ __NR_renameat, { { REMOVES, 0, 1 }, { REPLACES, 2, 3 } }, -1 },
#endif
#ifdef __x86_64__
	{ __NR_mkdir, { { MAKES, -1, 0 } }, 1 },
	{ __NR_mknod, { { MAKES, -1, 0 } }, 1 },
	{ __NR_symlink, { { MAKES, -1, 1 } }, 0 },
	{ __NR_unlink, { { REMOVES, -1, 0 } }, -1 },
	{ __NR_rmdir, { { REMOVES, -1, 0 } }, -1 },
	{ __NR_link, { { NOTHING, -1, 0 }, { MAKES, -1, 1 } }, -1 },
	{ __NR_rename, { { REMOVES, -1, 0 }, { REPLACES, -1, 1 } }, -1 },
#endif
};

const struct name_call *name_call_of(int number)
{
	for (size_t i = 0; i < COUNT_OF(name_calls); i++)
		if (name_calls[i].number == number)
			return &name_calls[i];
	return NULL;
}

int folder_argument(const struct notification *call, const struct name *name)
{
	return name->at < 0 ? AT_FDCWD : int_argument(call, name->at);
}

static bool find_name(const struct notification *call, const struct name *name, struct place *place)
{
	return find_place(call, folder_argument(call, name), argument(call, name->path), place);
}

static uint64_t extra_argument(const struct notification *call, const struct name_call *where)
{
	return where->extra < 0 ? 0 : argument(call, where->extra);
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

/* Nothing is moved between what we judge and what Landlock judges: programs copy then. */
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
	char path[PATH_MAX];
	struct stat status;

	if (fstat(object, &status) < 0 || !path_of_descriptor(object, path, sizeof path))
		return EACCES;
	bool nameless = S_ISREG(status.st_mode) && status.st_nlink == 0;
	if (!nameless && !is_kept(call->plan, path))
		return EXDEV;
	if ((!nameless && !may_write(call->plan, path)) || is_second_name(call->plan, object, false))
		return EACCES;
	return linkat(AT_FDCWD, path_to(object).text, to->folder, to->name, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
}

static int open_source(const struct notification *call, const struct name_call *where)
{
	int at = folder_argument(call, &where->names[0]), flags = (int)extra_argument(call, where);
	char path[PATH_MAX];

	errno = EFAULT;
	if (!read_tool_string(call, argument(call, where->names[0].path), path, sizeof path))
		return -1;
	if (!*path && flags & AT_EMPTY_PATH)
		return open_tool_directory(call, at);
	return open_tool_path(call, at, path, flags & AT_SYMLINK_FOLLOW ? 0 : O_NOFOLLOW);
}

static int answer_linking(const struct notification *call, const struct name_call *where)
{
	struct place to;
	bool found = find_name(call, &where->names[1], &to);
	CLOSE_ON_RETURN int folder = to.folder;

	if (!found || to.names_folder || !is_kept(call->plan, to.path))
		return LET_THROUGH;
	if (!may_write(call->plan, to.path))
		return EACCES;
	CLOSE_ON_RETURN int object = open_source(call, where);
	return object < 0 ? errno : name_object(call, object, &to);
}

static int answer_renaming(const struct notification *call, const struct name_call *where)
{
	struct place from, to;
	bool found = find_name(call, &where->names[0], &from);
	CLOSE_ON_RETURN int old = from.folder;
	found = found && find_name(call, &where->names[1], &to);
	CLOSE_ON_RETURN int new = found ? to.folder : -1;

	if (!found || (!is_kept(call->plan, from.path) && !is_kept(call->plan, to.path)))
		return LET_THROUGH;
	return rename_name(call, &from, &to, (unsigned)extra_argument(call, where));
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

int answer_making(const struct notification *call, const struct name_call *where)
{
	struct place place;

	if (!where || where->names[0].effect == EMPTIES || call->plan->kept.count == 0)
		return LET_THROUGH;
	if (where->names[1].effect)
		return where->names[1].effect == MAKES ? answer_linking(call, where) : answer_renaming(call, where);
	bool found = find_name(call, &where->names[0], &place);
	CLOSE_ON_RETURN int folder = place.folder;
	if (!found || !is_kept(call->plan, place.path))
		return LET_THROUGH;
	return may_write(call->plan, place.path) ? make_or_remove(call, &place, extra_argument(call, where)) : EACCES;
}
