/*
 * Cells inside this cell, on the side of the outer keeper; boundary/tool.c has that of the inner tool.
 *
 * The kernel lets a process have one listener, so that a cell inside this one has none: its trapped calls come to us.
 * Such a cell asks us, by one connect(), to be known. From then on connections of its processes are judged by its own
 * destinations and handed to its own proxy, which is a process of ours like any other and is bound by our grants.
 *
 * A mark that the kernel keeps tells its processes from ours: the hard limit of RLIMIT_LOCKS, which has no effect since
 * Linux 2.4. Children inherit it, and only CAP_SYS_RESOURCE could raise it. A process with a mark that is not known
 * here is connected to nothing. Every cell without a listener marks its tool, also one that asks for no network.
 *
 * Asking gives no right: it brings connections of processes with the new mark, and none to the network.
 */
#include "keeper/network/nested.h"
#include "keeper/network/stand-in.h"
#include "processes/proc.h"
#include "wire/memory.h"
#include "wire/nested-request.h"
#include "wire/report.h"

#include <sys/resource.h>

#define STREAM_ROOM (24 << 10) /* bytes; the kernel then takes some sixty connections that nobody has read */

void open_nest(struct nest *nest, const struct plan *plan, struct broker *own)
{
	struct rlimit limit;

	*nest = (struct nest){ .plan = plan, .own = own, .door = -1 };
	if (getrlimit(RLIMIT_LOCKS, &limit) < 0)
		die("keeper", "rlimit");
	nest->unmarked = limit.rlim_max;
}

/* From /proc, for a process with several user ids: prlimit() refuses those. */
static bool read_mark_in_proc(const struct notification *call, uint64_t *mark)
{
	char text[2048], hard[32];

	read_proc(text, sizeof text, "/proc/%d/limits", tool_in_proc(call));
	const char *line = strstr(text, "Max file locks");
	if (!line || sscanf(line, "Max file locks %*s %31s", hard) != 1)
		return false;
	*mark = strcmp(hard, "unlimited") == 0 ? RLIM_INFINITY : strtoull(hard, NULL, 10);
	return true;
}

/* Of the process that waits for an answer; false when that is no longer there. */
static bool read_mark(const struct notification *call, uint64_t *mark)
{
	struct rlimit limit;

	if (prlimit(call->request->pid, RLIMIT_LOCKS, NULL, &limit) == 0)
		*mark = limit.rlim_max;
	else if (!read_mark_in_proc(call, mark))
		return false;
	return still_waiting(call);
}

static struct nested *find_mark(const struct nest *nest, uint64_t mark)
{
	for (size_t i = 0; i < nest->count; i++)
		if (nest->at[i]->mark == mark)
			return nest->at[i];
	return NULL;
}

enum whose whose_call(const struct notification *call, struct nested **into)
{
	uint64_t mark;

	if (!read_mark(call, &mark))
		return OF_STRANGER;
	if (mark == call->nest->unmarked)
		return OF_CELL;
	*into = find_mark(call->nest, mark);
	return *into ? OF_NESTED : OF_STRANGER;
}

/*
 * What a cell inside may do with files, its own Landlock rules say, which do not bind us. So we carry out nothing for
 * it: the kernel does that, and asks the rules of both cells. A socket's name without a file has no rule.
 */
int answer_nested_file(const struct notification *call)
{
	struct nested *cell;

	if (whose_call(call, &cell) == OF_CELL)
		return NOT_OURS;
	return call->request->data.nr == SYS_bind ? EACCES : LET_THROUGH;
}

static void forget(struct nested *cell)
{
	end_questions(&cell->broker.questions);
	if (cell->broker.questions.supervisor >= 0)
		close(cell->broker.questions.supervisor);
	free_plan(&cell->plan);
	free(cell->words);
	free(cell);
}

static bool find_door(struct nest *nest)
{
	if (nest->own) {
		nest->door = nest->own->door;
		nest->door_address = nest->own->door_address;
	}
	return nest->door >= 0 || (nest->door = open_door(0, &nest->door_address)) >= 0;
}

/* Whether one more may be known; an error otherwise. */
static int judge_request(struct nest *nest, const struct nested *cell)
{
	size_t deeper = 0;

	for (size_t i = 0; i < nest->count; i++)
		deeper += nest->at[i]->deeper;
	/* Without a network here it would reach nothing. */
	if (!nest->plan->network_all && !nest->plan->network_brokered)
		return ENETUNREACH;
	if (cell->mark >= nest->unmarked || find_mark(nest, cell->mark))
		return EEXIST;
	if (nest->count == MOST_NESTED || (cell->deeper && deeper == MOST_DEEPER))
		return ENOSPC;
	return find_door(nest) ? 0 : EACCES;
}

/* Puts our stream in the place of the socket that asked. Returns 0 or an error. */
static int begin_stream(const struct notification *call, struct nested *cell)
{
	int ends[2], room = STREAM_ROOM;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return errno;
	cell->broker.questions.supervisor = ends[0];
	CLOSE_ON_RETURN int other_end = ends[1];
	struct stand_in place = { .socket = other_end, .descriptor = int_argument(call, 0), .flags = O_CLOEXEC };
	/* A cell that does not read must not keep us waiting, nor many descriptors on their way. */
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) < 0)
		return errno;
	return put_in_place(call, &place) ? 0 : EACCES;
}

static int take_request(const struct notification *call, size_t length, struct nested *cell)
{
	struct nest *nest = call->nest;
	uint64_t own;

	cell->told.of_nested = true;
	cell->broker = (struct broker){ .plan = &cell->plan, .door = -1 };
	begin_questions(&cell->broker.questions, &cell->plan.broker, -1, &cell->told);
	cell->broker.questions.names.few = true;
	cell->words = allocate(length + 1, 1);
	if (!read_tool_memory(call, argument(call, 1), cell->words, length) || !read_mark(call, &own))
		return EFAULT;
	if (parse_request(cell->words, length, &cell->mark, &cell->plan))
		return EINVAL;
	cell->deeper = own != nest->unmarked;
	int problem = judge_request(nest, cell);
	if (problem)
		return problem;
	cell->broker.door = nest->door;
	cell->broker.door_address = nest->door_address;
	return begin_stream(call, cell);
}

int answer_request(const struct notification *call, size_t length)
{
	struct nested *cell = length < SHORTEST_REQUEST || length > LONGEST_REQUEST ? NULL : allocate(1, sizeof *cell);
	int problem = cell ? take_request(call, length, cell) : EINVAL;

	if (!problem)
		call->nest->at[call->nest->count++] = cell;
	else if (cell)
		forget(cell);
	return problem;
}

/* Each of the cells inside has its stream, of which only the end matters, and its questions. */
void watch_nested(struct nest *nest, struct watched *watched)
{
	nest->polled = nest->count;
	for (size_t i = 0; i < nest->count; i++) {
		watch(watched, nest->at[i]->broker.questions.supervisor, 0);
		watch_conversations(&nest->at[i]->broker.questions, watched);
	}
}

void hear_nested(struct nest *nest, const struct pollfd *polled)
{
	size_t kept = 0;

	for (size_t i = 0; i < nest->count; i++) {
		struct nested *cell = nest->at[i];
		bool was_polled = i < nest->polled;
		bool has_ended = was_polled && polled->revents & (POLLHUP | POLLERR);
		if (was_polled)
			polled = hear_conversations(&cell->broker.questions, polled + 1);
		if (has_ended)
			forget(cell);
		else
			nest->at[kept++] = cell;
	}
	nest->count = kept;
}
