/*
 * Opening for writing, where Landlock alone holds the cell: files in write roots that hold something protected (kept.c),
 * and terminals (terminals.c). For reading, too, where something in such a root is hidden. The keeper opens them and hands the tool the descriptor. Whatever else it is, the call is
 * let through, and Landlock decides.
 */
#include "wire/cell.h"
#include "wire/kernel.h"
#include "keeper/notify.h"

#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

void hand_over(const struct notification *call, int descriptor, int flags)
{
	struct seccomp_notif_addfd addition = {
		.id = call->request->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = descriptor,
		.newfd_flags = flags & O_CLOEXEC,
	};

	/* Adding and answering in one step: otherwise a descriptor could stay with a tool that was interrupted. */
	if (ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addition) < 0)
		respond(call, 0, errno == EMFILE ? EMFILE : EPERM);
}

static bool is_writing(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
}

static void answer_with(const struct notification *call, int opened, int flags)
{
	CLOSE_ON_RETURN int descriptor = opened;

	if (descriptor < 0)
		respond(call, 0, errno);
	else
		hand_over(call, descriptor, flags);
}

/* A pipe waits for its other end, for which the tool's other threads must not: a child of ours does it. */
static void open_pipe(const struct notification *call, const char *descriptor, int flags)
{
	pid_t child = fork();

	if (child < 0)
		respond(call, 0, EAGAIN);
	if (child == 0) {
		answer_with(call, open(descriptor, flags | O_CLOEXEC), flags);
		_exit(0);
	}
}

static bool open_existing(const struct notification *call, int object, const struct opening *opening)
{
	int flags = opening->flags;
	const struct plan *plan = call->plan;
	char path[PATH_MAX], descriptor[64];
	struct stat status;
	bool nameless = (flags & O_TMPFILE) == O_TMPFILE;

	if (fstat(object, &status) < 0 || !path_of_descriptor(object, path, sizeof path))
		return false;
	if (S_ISCHR(status.st_mode))
		return open_terminal_for(call, object, flags);
	bool fits = S_ISDIR(status.st_mode) ? nameless || !is_writing(flags) : !nameless && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
	/* That it exists is what the kernel says by itself. */
	if (!fits || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) || !is_kept(plan, path))
		return false;
	bool reads = !is_writing(flags);
	if (!(reads ? may_read(plan, path) : may_write(plan, path)) || is_second_name(plan, object, reads)) {
		respond(call, 0, EACCES);
		return true;
	}
	snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", object);
	flags &= ~(nameless ? 0 : O_CREAT | O_EXCL | O_NOFOLLOW);
	if (S_ISFIFO(status.st_mode))
		open_pipe(call, descriptor, flags);
	else
		answer_with(call, open(descriptor, flags | O_CLOEXEC, without_umask(call, opening->mode)), flags);
	return true;
}

static bool open_new(const struct notification *call, const struct opening *opening)
{
	struct place place;
	bool found = find_place(call, opening->at, opening->pointer, &place);
	CLOSE_ON_RETURN int folder = place.folder;

	if (!found || place.names_folder || !is_kept(call->plan, place.path))
		return false;
	if (!may_write(call->plan, place.path)) {
		respond(call, 0, EACCES);
		return true;
	}
	/* A link there now leads to nothing, and what it leads to was not judged. */
	int flags = opening->flags | O_NOFOLLOW;
	answer_with(call, openat(folder, place.name, flags | O_CLOEXEC, without_umask(call, opening->mode)), opening->flags);
	return true;
}

bool carry_out_open(const struct notification *call, const struct opening *opening)
{
	char path[PATH_MAX];

	/* What is not opened at all (O_PATH) needs no right. */
	if (!(call->plan->traps & TRAP_WRITE) || opening->flags & O_PATH || (!is_writing(opening->flags) && !call->plan->hidden_count))
		return false;
	if (!read_tool_string(call, opening->pointer, path, sizeof path))
		return false;
	CLOSE_ON_RETURN int object = open_tool_path(call, opening->at, path, opening->flags & O_NOFOLLOW);
	if (object >= 0)
		return open_existing(call, object, opening);
	return errno == ENOENT && opening->flags & O_CREAT && open_new(call, opening);
}
