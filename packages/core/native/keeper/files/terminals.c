/*
 * Terminals that the tool makes, in the landlock form.
 *
 * All terminals of the user lie in one folder, and a rule for it would open those of others. A new one has its name
 * only after the rules were made. So the keeper opens /dev/ptmx for the tool and remembers the other side of what it
 * got. That alone is opened, by its name or by the ioctl() that asks for it.
 */
#include "keeper/files/terminals.h"

#include <linux/major.h>
#include <sys/sysmacros.h>

/* One whose first side was closed has no name any more. */
static void forget_closed(struct terminals *own)
{
	size_t kept = 0;

	for (size_t i = 0; i < own->count; i++) {
		struct stat status;
		if (fstat(own->sides[i], &status) == 0 && status.st_nlink > 0)
			own->sides[kept++] = own->sides[i];
		else
			close(own->sides[i]);
	}
	own->count = kept;
}

static int open_first_side(const struct notification *call, int flags)
{
	char name[64];

	forget_closed(call->terminals);
	if (call->terminals->count == MOST_TERMINALS)
		return ENOSPC;
	CLOSE_ON_RETURN int first = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | (flags & O_NONBLOCK));
	int other = first >= 0 && ptsname_r(first, name, sizeof name) == 0 ? open(name, O_PATH | O_CLOEXEC) : -1;
	if (other < 0)
		return errno;
	call->terminals->sides[call->terminals->count++] = other;
	return hand_over(call, first, flags);
}

static bool is_ours(const struct notification *call, int object)
{
	struct stat wanted, side;

	forget_closed(call->terminals);
	for (size_t i = 0; fstat(object, &wanted) == 0 && i < call->terminals->count; i++)
		if (fstat(call->terminals->sides[i], &side) == 0 && side.st_ino == wanted.st_ino &&
		    side.st_dev == wanted.st_dev && side.st_rdev == wanted.st_rdev)
			return true;
	return false;
}

int open_terminal_for(const struct notification *call, int object, int flags)
{
	struct stat status;

	if (fstat(object, &status) < 0)
		return NOT_OURS;
	/* /dev/ptmx */
	if (status.st_rdev == makedev(TTYAUX_MAJOR, 2))
		return open_first_side(call, flags);
	if (!is_ours(call, object))
		return NOT_OURS;
	CLOSE_ON_RETURN int side = open(path_to(object).text, O_RDWR | O_NOCTTY | O_CLOEXEC | (flags & O_NONBLOCK));
	return side < 0 ? errno : hand_over(call, side, flags);
}

int answer_ioctl(const struct notification *call)
{
	CLOSE_ON_RETURN int first = borrow_descriptor(call, int_argument(call, 0));
	char name[64];

	/* Without it programs ask for the name, and open that. */
	if (first < 0 || ptsname_r(first, name, sizeof name) != 0)
		return first < 0 && errno == EBADF ? EBADF : ENOTTY;
	CLOSE_ON_RETURN int object = open(name, O_PATH | O_CLOEXEC);
	int answer = object < 0 ? NOT_OURS : open_terminal_for(call, object, int_argument(call, 2));
	return answer == NOT_OURS ? EACCES : answer;
}
