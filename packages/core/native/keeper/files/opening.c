/*
 * Opens that the keeper carries out, in the landlock form: for writing, in write roots that hold something protected
 * (kept.c), and of terminals (terminals.c); for reading, where something in such a root is hidden. The tool gets the
 * descriptor. Everything else is let through, and Landlock decides.
 */
#include "keeper/files/opening.h"
#include "keeper/files/kept.h"
#include "keeper/files/terminals.h"

static bool is_writing(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
}

static int answer_with(const struct notification *call, int opened, int flags)
{
	CLOSE_ON_RETURN int descriptor = opened;

	return descriptor < 0 ? errno : hand_over(call, descriptor, flags);
}

/* Waits no longer than the tool does. Nobody tells us of a tool that was killed, so we ask now and then. */
static _Noreturn void wait_for_other_end(const struct notification *call, const char *descriptor, int flags)
{
	int opened;

	interrupt_after(100000, 100000);
	do
		opened = open(descriptor, flags | O_CLOEXEC);
	while (opened < 0 && errno == EINTR && still_waiting(call));
	respond(call, answer_with(call, opened, flags));
	_exit(0);
}

static int open_existing(const struct notification *call, int object, const struct opening *opening)
{
	int flags = opening->flags;
	const struct plan *plan = call->plan;
	struct descriptor_path descriptor = path_to(object);
	char path[PATH_MAX];
	struct stat status;
	bool nameless = (flags & O_TMPFILE) == O_TMPFILE, reads = !is_writing(flags);

	if (fstat(object, &status) < 0 || !path_of_descriptor(object, path, sizeof path))
		return LET_THROUGH;
	if (S_ISCHR(status.st_mode)) {
		int answer = open_terminal_for(call, object, flags);
		return answer == NOT_OURS ? LET_THROUGH : answer;
	}
	bool fits = S_ISDIR(status.st_mode) ? nameless || reads
					    : !nameless && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
	/* That it exists is what the kernel says by itself. */
	if (!fits || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) || !is_kept(plan, path))
		return LET_THROUGH;
	if (!(reads ? may_read(plan, path) : may_write(plan, path)) || is_second_name(plan, object, reads))
		return EACCES;
	flags &= ~(nameless ? 0 : O_CREAT | O_EXCL | O_NOFOLLOW);
	if (!S_ISFIFO(status.st_mode))
		return answer_with(call, open(descriptor.text, flags | O_CLOEXEC, without_umask(call, opening->mode)),
				   flags);
	/* A pipe waits for its other end, and the tool's other threads must not: a child of ours does it. */
	pid_t child = fork();
	if (child == 0)
		wait_for_other_end(call, descriptor.text, flags);
	return child < 0 ? EAGAIN : ANSWERED;
}

/* Always a new file (O_EXCL): what exists was judged by nobody. NOT_OURS when it exists by now. */
static int open_new(const struct notification *call, const struct opening *opening, const char *path)
{
	struct place place;
	bool found = find_place_to_make(call, opening->at, path, !(opening->flags & (O_EXCL | O_NOFOLLOW)), &place);
	CLOSE_ON_RETURN int folder = place.folder;

	if (!found || place.names_folder || !is_kept(call->plan, place.path))
		return LET_THROUGH;
	if (!may_write(call->plan, place.path))
		return EACCES;
	int flags = opening->flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int opened = openat(folder, place.name, flags, without_umask(call, opening->mode));
	if (opened < 0 && errno == EEXIST && !(opening->flags & O_EXCL))
		return NOT_OURS;
	return answer_with(call, opened, opening->flags);
}

/* How often a file may appear and vanish between two looks at it. */
#define MOST_TRIES 64

int carry_out_open(const struct notification *call, const struct opening *opening)
{
	char path[PATH_MAX];

	/* What is not opened at all (O_PATH) needs no right. */
	if (!(call->plan->traps & TRAP_WRITE) || opening->flags & O_PATH ||
	    (!is_writing(opening->flags) && !call->plan->hidden.count))
		return LET_THROUGH;
	/* Read once: the tool can change it between two looks. */
	if (!read_tool_string(call, opening->pointer, path, sizeof path))
		return LET_THROUGH;
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		CLOSE_ON_RETURN int object = open_tool_path(call, opening->at, path, opening->flags & O_NOFOLLOW);
		if (object >= 0)
			return open_existing(call, object, opening);
		if (errno != ENOENT || !(opening->flags & O_CREAT))
			return LET_THROUGH;
		int answer = open_new(call, opening, path);
		if (answer != NOT_OURS)
			return answer;
	}
	return EAGAIN;
}
