/*
 * A cell inside another one, seen from inside: the tool's process makes itself known to the
 * outer keeper before it is confined. See nested.c for what that keeper does.
 *
 * It is done by connect(), which is trapped there, with the words in the place of an address.
 * The socket then leads to the outer keeper.
 */
#include "boundary/join-outer.h"
#include "wire/nested-request.h"
#include "wire/report.h"
#include "wire/scope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGHEST_MARK (1ull << 62)
#define LOWEST_ROOM (1ull << 40) /* below that a mark could be guessed */

/* Below the own one, so that a cell in a cell has another, and by chance, so that nobody else can have it. */
static uint64_t choose_mark(void)
{
	struct rlimit own;
	uint64_t chance, half;

	if (getrlimit(RLIMIT_LOCKS, &own) < 0 || getrandom(&chance, sizeof chance, 0) != sizeof chance)
		die("nesting", "a mark");
	half = (own.rlim_max < HIGHEST_MARK ? own.rlim_max : HIGHEST_MARK) / 2;
	errno = ERANGE;
	if (half < LOWEST_ROOM)
		die("nesting", "there are too many cells around this one, or RLIMIT_LOCKS is too low");
	return half + chance % half;
}

static void set_mark(uint64_t mark)
{
	const struct rlimit limit = { mark, mark };

	if (setrlimit(RLIMIT_LOCKS, &limit) < 0)
		die("nesting", "the mark");
}

void mark_as_nested(void)
{
	set_mark(choose_mark());
}

int join_outer_cell(const struct plan *plan)
{
	uint64_t mark = choose_mark();
	size_t length;
	FREE_ON_RETURN char *words = write_request(plan, mark, &length);
	errno = E2BIG;
	if (length > LONGEST_REQUEST)
		die("nesting", "more hosts are granted than an outer cell takes");
	int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (stream < 0 || syscall(SYS_connect, stream, words, length) < 0)
		die("nesting", "the outer cell does not take connections for this one");
	set_mark(mark);
	return stream;
}
