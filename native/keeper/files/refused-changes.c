/*
 * Making, removing, replacing and renaming names that the boundary keeps. The
 * kernel (or making.c) refuses that, and many a program goes on as if nothing had
 * happened: git changes the branch and leaves the file. So it is told. Watching
 * only, and the host says from the policy what was refused.
 */
#include "keeper/files/refused-changes.h"
#include "keeper/files/kept.h"
#include "keeper/files/making.h"
#include "keeper/files/observe.h"
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

#define NONE -1

enum effect { REMOVES, MAKES, REPLACES, EMPTIES };

/* A name that a call changes: the numbers of its arguments for the folder (or NONE) and the path (or NONE). */
struct name {
	enum effect effect;
	int at, path;
};

#define NO_NAME                     \
	{                           \
		REMOVES, NONE, NONE \
	}

static const struct {
	int number;
	struct name names[2];
} changes[] = {
	{ __NR_unlinkat, { { REMOVES, 0, 1 }, NO_NAME } },
	{ __NR_renameat2, { { REMOVES, 0, 1 }, { REPLACES, 2, 3 } } },
	{ __NR_truncate, { { EMPTIES, NONE, 0 }, NO_NAME } },
	{ __NR_mkdirat, { { MAKES, 0, 1 }, NO_NAME } },
	{ __NR_linkat, { { MAKES, 2, 3 }, NO_NAME } },
	{ __NR_symlinkat, { { MAKES, 1, 2 }, NO_NAME } },
	{ __NR_mknodat, { { MAKES, 0, 1 }, NO_NAME } },
#ifdef __NR_renameat
	{ __NR_renameat, { { REMOVES, 0, 1 }, { REPLACES, 2, 3 } } },
#endif
#ifdef __x86_64__
	{ __NR_rename, { { REMOVES, NONE, 0 }, { REPLACES, NONE, 1 } } },
	{ __NR_unlink, { { REMOVES, NONE, 0 }, NO_NAME } },
	{ __NR_rmdir, { { REMOVES, NONE, 0 }, NO_NAME } },
	{ __NR_mkdir, { { MAKES, NONE, 0 }, NO_NAME } },
	{ __NR_link, { { MAKES, NONE, 1 }, NO_NAME } },
	{ __NR_symlink, { { MAKES, NONE, 1 }, NO_NAME } },
	{ __NR_mknod, { { MAKES, NONE, 0 }, NO_NAME } },
#endif
};

/* A mount point can be neither removed nor replaced: that is how a cell pins what is sealed. */
static bool is_mount_point(const char *path)
{
	struct statx found;

	return syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &found) == 0 &&
	       found.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Of the many files that are removed hardly one has the last name of a bind, and the rest costs no look. */
static bool may_be_mount_point(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		const char *slash = plan->steps[i].kind == STEP_BIND ? strrchr(plan->steps[i].path, '/') : NULL;
		if (slash && slash[1] && strcmp(slash + 1, name) == 0)
			return true;
	}
	return false;
}

/* A link in the last place is itself what is changed, so only the way to it is followed. */
static bool real_name(const char *seen, const char *name, char *into, size_t room)
{
	char folder[2 * PATH_MAX], real[PATH_MAX];

	snprintf(folder, sizeof folder, "%.*s", name - seen > 1 ? (int)(name - seen) - 1 : 1, seen);
	CLOSE_ON_RETURN int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return snprintf(into, room, "%s", seen) < (int)room && strncmp(seen, "/proc/", 6) != 0;
	return path_of_descriptor(at, real, sizeof real) &&
	       snprintf(into, room, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < (int)room;
}

/* In the `landlock` form the keeper says what is sealed in a write root, see kept.c. */
static bool is_kept_name(const struct plan *plan, const char *seen, const char *name, enum effect effect)
{
	char real[2 * PATH_MAX];

	if (!real_name(seen, name, real, sizeof real) || !is_kept(plan, real))
		return false;
	return effect == MAKES ? !may_write(plan, real) : !may_move(plan, real);
}

static void look_at(const struct notification *call, const struct name *change)
{
	const struct plan *plan = call->plan;
	const __u64 *arguments = call->request->data.args;
	int at = change->at == NONE ? AT_FDCWD : int_argument(call, change->at);
	char path[PATH_MAX], seen[2 * PATH_MAX], real[2 * PATH_MAX];
	struct stat status;

	if (!read_tool_string(call, arguments[change->path], path, sizeof path))
		return;
	for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
	if (!path_for_keeper(call, at, path, seen, sizeof seen))
		return;
	const char *name = strrchr(seen, '/') + 1;
	enum holding folder =
		change->effect == EMPTIES ? holding_of(plan, seen, ACCESS_WRITE) : holding_of_folder(plan, seen);
	/* Nothing is hidden in the `landlock` form: what is missing here is missing. */
	if (folder == MISSING && plan->form == FORM_LANDLOCK)
		return;
	if (folder == FREE &&
	    (change->effect == EMPTIES || !(plan->kept_count ? is_kept_name(plan, seen, name, change->effect)
							     : may_be_mount_point(plan, name) && is_mount_point(seen))))
		return;
	/* The kernel's own answers come first: EEXIST for a name that is there, ENOENT for one that is not. */
	bool exists = lstat(seen, &status) == 0;
	if (folder != MISSING && change->effect == (exists ? MAKES : REMOVES))
		return;
	if (real_name(seen, name, real, sizeof real))
		report_attempt(call, real,
			       exists || change->effect == REMOVES || change->effect == EMPTIES ? TO_WRITE
			       : change->effect == MAKES					? TO_MAKE_NEW
												: TO_MAKE,
			       folder == MISSING);
}

void answer_change(const struct notification *call)
{
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		for (int each = 0; changes[i].number == call->request->data.nr && each < 2; each++)
			if (changes[i].names[each].path != NONE)
				look_at(call, &changes[i].names[each]);
	if (!answer_making(call))
		let_through(call);
}
