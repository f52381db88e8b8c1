/*
 * A cell inside another one, seen from inside: the tool's process makes itself known to the
 * outer keeper before it is confined. See nested.c for what that keeper does.
 *
 * It is done by connect(), which is trapped there, with the words in the place of an address.
 * The socket then leads to the outer keeper.
 */
#include "keeper/network/nested.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGHEST_MARK (1ull << 62)
#define LOWEST_ROOM (1ull << 40) /* below that a mark could be guessed */

static const char *const kinds[] = { [REACH_NAME] = "name", [REACH_BELOW] = "below" };

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

static void write_destination(FILE *into, const struct reach *reach)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (reach->kind != REACH_BLOCK) {
		fprintf(into, "%s%c%s%c%u%c", kinds[reach->kind], 0, reach->name, 0, reach->port, 0);
		return;
	}
	inet_ntop(AF_INET6, reach->address, address, sizeof address);
	fprintf(into, "block%c%s/%u%c%u%c", 0, address, reach->bits, 0, reach->port, 0);
}

static char *write_request(const struct plan *plan, uint64_t mark, size_t *length)
{
	static const char nothing[SHORTEST_REQUEST];
	char *words = NULL;
	FILE *into = open_memstream(&words, length);

	if (!into)
		die("nesting", "memory");
	fprintf(into, "%s%c%llu%c%u%c", REQUEST_WORD, 0, (unsigned long long)mark, 0, plan->broker.port, 0);
	for (size_t i = 0; i < plan->broker.reach_count; i++)
		write_destination(into, &plan->broker.reaches[i]);
	fprintf(into, "end%c", 0);
	fwrite(nothing, 1, sizeof nothing, into);
	if (fclose(into) != 0)
		die("nesting", "memory");
	errno = E2BIG;
	if (*length > LONGEST_REQUEST)
		die("nesting", "more hosts are granted than an outer cell takes");
	return words;
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
	int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (stream < 0 || syscall(SYS_connect, stream, words, length) < 0)
		die("nesting", "the outer cell does not take connections for this one");
	set_mark(mark);
	return stream;
}
