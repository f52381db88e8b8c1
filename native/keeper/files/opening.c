/*
 * Opens that the keeper carries out, in the landlock form: for writing, in write roots that hold something protected
 * (kept.c), and of terminals (terminals.c); for reading, where something in such a root is hidden. The tool gets the
 * descriptor. Everything else goes on, and Landlock decides.
 */
#include "keeper/files/opening.h"
#include "keeper/files/kept.h"
#include "keeper/files/terminals.h"
#include "wire/report.h"
#include "wire/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

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

static void wake(int signal)
{
	(void)signal;
}

/* Waits no longer than the tool does. Nobody tells us of a tool that was killed, so we ask now and then. */
static _Noreturn void wait_for_other_end(const struct notification *call, const char *descriptor, int flags)
{
	struct sigaction interrupts = { .sa_handler = wake };
	struct itimerval often = { { .tv_usec = 100000 }, { .tv_usec = 100000 } };
	sigset_t alarm;
	int opened;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (sigaction(SIGALRM, &interrupts, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &alarm, NULL) < 0 ||
	    setitimer(ITIMER_REAL, &often, NULL) < 0)
		_exit(EXIT_REFUSED);
	do
		opened = open(descriptor, flags | O_CLOEXEC);
	while (opened < 0 && errno == EINTR && still_waiting(call));
	answer_with(call, opened, flags);
	_exit(0);
}

/* A pipe waits for its other end, for which the tool's other threads must not: a child of ours does it. */
static void open_pipe(const struct notification *call, const char *descriptor, int flags)
{
	pid_t child = fork();

	if (child < 0)
		respond(call, 0, EAGAIN);
	if (child == 0)
		wait_for_other_end(call, descriptor, flags);
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
	bool fits = S_ISDIR(status.st_mode) ? nameless || !is_writing(flags)
					    : !nameless && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
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

enum making { NOT_OURS, ANSWERED, EXISTS_BY_NOW };

/* Always a new file (O_EXCL): what exists was judged by nobody. */
static enum making open_new(const struct notification *call, const struct opening *opening, const char *path)
{
	struct place place;
	bool found = find_place_to_make(call, opening->at, path, !(opening->flags & (O_EXCL | O_NOFOLLOW)), &place);
	CLOSE_ON_RETURN int folder = place.folder;

	if (!found || place.names_folder || !is_kept(call->plan, place.path))
		return NOT_OURS;
	if (!may_write(call->plan, place.path)) {
		respond(call, 0, EACCES);
		return ANSWERED;
	}
	int flags = opening->flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int opened = openat(folder, place.name, flags, without_umask(call, opening->mode));
	if (opened < 0 && errno == EEXIST && !(opening->flags & O_EXCL))
		return EXISTS_BY_NOW;
	answer_with(call, opened, opening->flags);
	return ANSWERED;
}

/* How often a file may appear and vanish between two looks at it. */
#define MOST_TRIES 64

bool carry_out_open(const struct notification *call, const struct opening *opening)
{
	char path[PATH_MAX];

	/* What is not opened at all (O_PATH) needs no right. */
	if (!(call->plan->traps & TRAP_WRITE) || opening->flags & O_PATH ||
	    (!is_writing(opening->flags) && !call->plan->hidden_count))
		return false;
	/* Read once: the tool can change it between two looks. */
	if (!read_tool_string(call, opening->pointer, path, sizeof path))
		return false;
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		CLOSE_ON_RETURN int object = open_tool_path(call, opening->at, path, opening->flags & O_NOFOLLOW);
		if (object >= 0)
			return open_existing(call, object, opening);
		enum making made =
			errno == ENOENT && opening->flags & O_CREAT ? open_new(call, opening, path) : NOT_OURS;
		if (made != EXISTS_BY_NOW)
			return made == ANSWERED;
	}
	respond(call, 0, EAGAIN);
	return true;
}
