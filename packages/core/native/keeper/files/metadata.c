/*
 * chmod, chown, utime and xattr in the landlock form, truncate where Landlock is older than ABI 3, and set-group-id
 * folders.
 *
 * Landlock does not see these calls, so that an owner could change files it was never granted. Where no mount namespace
 * hides those files, the keeper looks at the object itself and carries the call out only inside the write roots.
 */
#include "keeper/files/metadata.h"
#include "keeper/files/kept.h"
#include "wire/kernel.h"
#include "wire/memory.h"

#include <linux/magic.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <utime.h>

/* Where a call keeps its arguments; -1 is none. */
struct object_call {
	int number;
	int at; /* folder descriptor, or the file's own when `path` is none */
	int path;
	int flags;
	bool follows; /* without AT_ flags: whether a symbolic link is followed */
};

static const struct object_call object_calls[] = {
	{ __NR_truncate, -1, 0, -1, true },	{ __NR_fchmod, 0, -1, -1, true },
	{ __NR_fchmodat, 0, 1, -1, true },	{ __NR_fchmodat2, 0, 1, 3, true },
	{ __NR_fchown, 0, -1, -1, true },	{ __NR_fchownat, 0, 1, 4, true },
	{ __NR_utimensat, 0, 1, 3, true },	{ __NR_setxattr, -1, 0, -1, true },
	{ __NR_lsetxattr, -1, 0, -1, false },	{ __NR_fsetxattr, 0, -1, -1, true },
	{ __NR_removexattr, -1, 0, -1, true },	{ __NR_lremovexattr, -1, 0, -1, false },
	{ __NR_fremovexattr, 0, -1, -1, true },
#ifdef __x86_64__
	{ __NR_chmod, -1, 0, -1, true },	{ __NR_chown, -1, 0, -1, true },
	{ __NR_lchown, -1, 0, -1, false },	{ __NR_utime, -1, 0, -1, true },
	{ __NR_utimes, -1, 0, -1, true },	{ __NR_futimesat, 0, 1, -1, true },
#endif
};

static const struct object_call *object_call_of(int number)
{
	for (size_t i = 0; i < COUNT_OF(object_calls); i++)
		if (object_calls[i].number == number)
			return &object_calls[i];
	return NULL;
}

/* The object the tool means, as a descriptor that grants nothing (O_PATH); -1 with errno. */
static int open_object(const struct notification *call, const struct object_call *where)
{
	int at = where->at < 0 ? AT_FDCWD : int_argument(call, where->at);
	int flags = where->flags < 0 ? 0 : int_argument(call, where->flags);
	bool follows = where->follows && !(flags & AT_SYMLINK_NOFOLLOW);
	char path[PATH_MAX];

	if (where->path < 0 || argument(call, where->path) == 0)
		return open_tool_directory(call, at); /* the descriptor itself, whatever it is */
	if (!read_tool_string(call, argument(call, where->path), path, sizeof path)) {
		errno = EFAULT;
		return -1;
	}
	if (path[0] == '\0') {
		errno = ENOENT;
		return flags & AT_EMPTY_PATH ? open_tool_directory(call, at) : -1;
	}
	return open_tool_path(call, at, path, follows ? 0 : O_NOFOLLOW);
}

static bool in_write_root(const struct plan *plan, int object)
{
	char path[PATH_MAX];

	if (!path_of_descriptor(object, path, sizeof path))
		return false;
	/* Its rule has the right to devices, too, see landlock.c; devices themselves are nobody's to change. */
	if (is_beneath(path, plan->scratch))
		return true;
	if (is_kept(plan, path))
		return may_write(plan, path) && !is_second_name(plan, object, false);
	for (size_t i = 0; i < plan->rule_count; i++)
		if ((plan->rules[i].access & (ACCESS_WRITE | ACCESS_DEVICE)) == ACCESS_WRITE &&
		    is_beneath(path, plan->rules[i].path))
			return true;
	return false;
}

static int change_times(const struct notification *call, const char *object)
{
	uint64_t pointer = argument(call, 1);
	struct timespec times[2];

	switch (call->request->data.nr) {
	case __NR_utimensat:
		pointer = argument(call, 2);
		if (pointer && !read_tool_memory(call, pointer, times, sizeof times))
			return EFAULT;
		break;
#ifdef __x86_64__
	case __NR_utime: {
		struct utimbuf seconds;
		if (pointer && !read_tool_memory(call, pointer, &seconds, sizeof seconds))
			return EFAULT;
		times[0] = (struct timespec){ .tv_sec = seconds.actime };
		times[1] = (struct timespec){ .tv_sec = seconds.modtime };
		break;
	}
	default: {
		struct timeval micro[2];
		if (call->request->data.nr == __NR_futimesat)
			pointer = argument(call, 2);
		if (pointer && !read_tool_memory(call, pointer, micro, sizeof micro))
			return EFAULT;
		for (int i = 0; i < 2; i++)
			times[i] = (struct timespec){ micro[i].tv_sec, micro[i].tv_usec * 1000 };
		break;
	}
#else
	default: return ENOSYS;
#endif
	}
	return utimensat(AT_FDCWD, object, pointer ? times : NULL, 0) < 0 ? errno : 0;
}

/*
 * On tmpfs the values of attributes are memory of the kernel, which neither the size of the file system nor a limit of
 * the call counts. The root of a cell with namespaces limits them by the number of inodes. Before Linux 6.6 tmpfs has
 * no attributes of users, so programs do without them.
 */
static bool is_uncounted(const struct notification *call, const char *object)
{
	struct statfs status;

	return call->plan->form == FORM_LANDLOCK && statfs(object, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

static int change_attribute(const struct notification *call, const char *object, bool removes)
{
	uint64_t size = argument(call, 3);
	char name[256];

	if (!read_tool_string(call, argument(call, 1), name, sizeof name))
		return EFAULT;
	if (removes)
		return removexattr(object, name) < 0 ? errno : 0;
	if (is_uncounted(call, object))
		return EOPNOTSUPP;
	if (size > XATTR_SIZE_MAX)
		return E2BIG;
	FREE_ON_RETURN void *value = resize(NULL, size + 1);
	if (size && !read_tool_memory(call, argument(call, 2), value, size))
		return EFAULT;
	return setxattr(object, name, value, size, int_argument(call, 4)) < 0 ? errno : 0;
}

/* A set-group-id file is a way up for whoever runs it; a folder is none. */
static int change_mode(const char *object, mode_t mode)
{
	struct stat status;

	if (mode & S_ISGID && (stat(object, &status) < 0 || !S_ISDIR(status.st_mode)))
		return EPERM;
	return chmod(object, mode) < 0 ? errno : 0;
}

static int carry_out(const struct notification *call, const char *object)
{
	switch (call->request->data.nr) {
	case __NR_truncate: return truncate(object, argument(call, 1)) < 0 ? errno : 0;
	case __NR_fchmodat:
	case __NR_fchmodat2: return change_mode(object, unsigned_argument(call, 2));
#ifdef __x86_64__
	case __NR_chmod:
#endif
	case __NR_fchmod: return change_mode(object, unsigned_argument(call, 1));
	case __NR_fchownat:
		return chown(object, unsigned_argument(call, 2), unsigned_argument(call, 3)) < 0 ? errno : 0;
#ifdef __x86_64__
	case __NR_chown:
	case __NR_lchown:
#endif
	case __NR_fchown: return chown(object, unsigned_argument(call, 1), unsigned_argument(call, 2)) < 0 ? errno : 0;
	case __NR_setxattr:
	case __NR_lsetxattr:
	case __NR_fsetxattr: return change_attribute(call, object, false);
	case __NR_removexattr:
	case __NR_lremovexattr:
	case __NR_fremovexattr: return change_attribute(call, object, true);
#ifdef __x86_64__
	case __NR_utime:
	case __NR_utimes:
	case __NR_futimesat:
#endif
	case __NR_utimensat: return change_times(call, object);
	default: return ENOSYS; /* it is listed, and nobody said how to carry it out */
	}
}

int answer_metadata(const struct notification *call)
{
	const struct object_call *where = object_call_of(call->request->data.nr);
	char path[PATH_MAX] = "?";

	if (!where)
		return NOT_OURS;
	CLOSE_ON_RETURN int object = open_object(call, where);
	if (object < 0)
		return errno;
	/* With a mount namespace its read-only mounts decide, for us as for the tool. */
	if (call->plan->form == FORM_NAMESPACES || in_write_root(call->plan, object))
		return carry_out(call, path_to(object).text);
	path_of_descriptor(object, path, sizeof path);
	report_path_violation(call, "metadata", path);
	return EPERM;
}
