/*
 * Removing, replacing or renaming a sealed name. The kernel refuses that (it is a
 * mount point, or beneath one that is read-only), and many a program goes on as
 * if nothing had happened: git changes the branch and leaves the file. So it is
 * told. Watching only: the call is let through (unless making.c carries it out),
 * and the host says from the policy whether the name is a protected one.
 */
#include "cell.h"
#include "kernel.h"
#include "notify.h"

#include <errno.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define MOST_TOLD 64

/* The kernel's own answers: EBUSY for the root of a mount, EROFS in one that is read-only. */
static bool is_held(int folder, const char *name)
{
	struct statx found;
	struct statvfs system;

	if (syscall(SYS_statx, folder, name, AT_SYMLINK_NOFOLLOW, 0, &found) < 0)
		return false;
	return found.stx_attributes & STATX_ATTR_MOUNT_ROOT || (fstatvfs(folder, &system) == 0 && system.f_flag & ST_RDONLY);
}

/*
 * Whether a bind of the cell has the same last name as the path or as its folder.
 * Of the many files that are removed hardly one does, and the rest costs no look.
 */
static bool may_be_held(const struct plan *plan, const char *name, const char *folder)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		const char *slash = plan->steps[i].kind == STEP_BIND ? strrchr(plan->steps[i].path, '/') : NULL;
		if (slash && slash[1] && (strcmp(slash + 1, name) == 0 || strcmp(slash + 1, folder) == 0))
			return true;
	}
	return false;
}

static void look_at(const struct notification *call, int at, uint64_t pointer)
{
	static unsigned told;
	char path[PATH_MAX], real[PATH_MAX], whole[2 * PATH_MAX];

	if (told >= MOST_TOLD || !read_tool_string(call, pointer, path, sizeof path))
		return;
	for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
	/* A link in the last place is itself what is removed, so only the way to it is followed. */
	char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *folder_name = "";
	if (slash) {
		*slash = '\0';
		folder_name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	}
	if (!may_be_held(call->plan, name, folder_name))
		return;
	CLOSE_ON_RETURN int folder = !slash ? open_tool_directory(call, at) : open_tool_path(call, at, *path ? path : "/", O_DIRECTORY);
	if (folder < 0 || !is_held(folder, name) || !path_of_descriptor(folder, real, sizeof real))
		return;
	snprintf(whole, sizeof whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
	report_open(call, whole, true, false);
	told++;
}

void answer_name(const struct notification *call)
{
	const __u64 *arguments = call->request->data.args;

	if (answer_making(call))
		return;
	switch (call->request->data.nr) {
	case SYS_unlinkat:
		look_at(call, arguments[0], arguments[1]);
		break;
#ifdef SYS_renameat
	case SYS_renameat:
#endif
	case SYS_renameat2:
		look_at(call, arguments[0], arguments[1]);
		look_at(call, arguments[2], arguments[3]);
		break;
#ifdef SYS_rename
	case SYS_rename:
		look_at(call, AT_FDCWD, arguments[1]);
		/* fall through */
	case SYS_unlink:
	case SYS_rmdir:
		look_at(call, AT_FDCWD, arguments[0]);
		break;
#endif
	}
	let_through(call);
}
