/*
 * Making, removing, replacing and renaming names that the boundary keeps. The kernel (or making.c) refuses that, and
 * many a program goes on as if nothing had happened: git changes the branch and leaves the file. So it is reported.
 * Watching only: the host says from the policy what was refused.
 */
#include "keeper/files/refused-changes.h"
#include "keeper/files/kept.h"
#include "keeper/files/making.h"
#include "keeper/files/observe.h"

/* A mount point can be neither removed nor replaced: that is how a cell pins what is sealed. */
static bool is_mount_point(const char *path)
{
	struct statx found;

	return syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &found) == 0 &&
	       found.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/*
 * Hardly a file that is removed has the last name of a bind: the others cost no look. In a container the engine made
 * the mounts, and the plan names none.
 */
static bool may_be_mount_point(const struct plan *plan, const char *name)
{
	if (plan->form == FORM_LANDLOCK)
		return true;
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
	char path[PATH_MAX], seen[2 * PATH_MAX], real[2 * PATH_MAX];
	struct stat status;

	if (!read_tool_string(call, argument(call, change->path), path, sizeof path))
		return;
	for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
	if (!path_for_keeper(call, folder_argument(call, change), path, seen, sizeof seen))
		return;
	const char *name = strrchr(seen, '/') + 1;
	enum holding folder =
		change->effect == EMPTIES ? holding_of(plan, seen, ACCESS_WRITE) : holding_of_folder(plan, seen);
	/* Nothing is hidden in the `landlock` form: what is missing here is missing. */
	if (folder == MISSING && plan->form == FORM_LANDLOCK)
		return;
	if (folder == FREE &&
	    (change->effect == EMPTIES || !(plan->kept.count ? is_kept_name(plan, seen, name, change->effect)
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

int answer_change(const struct notification *call)
{
	const struct name_call *where = name_call_of(call->request->data.nr);

	for (int i = 0; where && i < 2; i++)
		if (where->names[i].effect != NOTHING)
			look_at(call, &where->names[i]);
	return answer_making(call, where);
}
