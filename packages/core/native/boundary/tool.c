/* The steps of the tool's process that are not the boundary itself, see become_tool() in main.c. */
#include "boundary/tool.h"
#include "boundary/landlock.h"
#include "boundary/new-terminal.h"
#include "wire/nested-request.h"
#include "wire/packets.h"
#include "wire/read-frame.h"
#include "wire/report.h"

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/un.h>

void count_cpu(int supervisor)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attributes,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	CLOSE_ON_RETURN int counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (counter >= 0)
		send_packet(supervisor, PACKET_CLOCK, 0, NULL, counter);
}

/* 0: none */
static unsigned long limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) < 0 || limit.rlim_max == RLIM_INFINITY ? 0 : limit.rlim_max;
}

static bool is_unprivileged(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct own[2] = { { .permitted = 1 } };

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && syscall(SYS_capget, &header, own) == 0 &&
	       !(own[0].effective | own[0].permitted | own[1].effective | own[1].permitted);
}

void report_applied(int supervisor, const struct applied *applied)
{
	char text[512];

	snprintf(text, sizeof text, "%u %u %u %d %d %lu %lu %lu", applied->mounts, applied->rules, applied->sum,
		 prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2, is_unprivileged(), limit_of(RLIMIT_NOFILE),
		 limit_of(RLIMIT_FSIZE), limit_of(RLIMIT_CPU));
	send_packet(supervisor, PACKET_LISTENER, landlock_abi(), text, -1);
}

struct command wait_for_command(int host)
{
	struct frame frame;
	struct command command;

	/* The host gave the cell up before it was used: there is nobody to tell. */
	if (!read_frame(host, &frame) || frame.kind == FRAME_KILL)
		_exit(EXIT_REFUSED);
	errno = EINVAL;
	if (frame.kind != FRAME_COMMAND)
		die("command", "expected a command");
	const char *wrong = parse_command(frame.payload, frame.length, &command);
	if (wrong)
		die("command", wrong);
	return command;
}

int try_listener(const struct plan *plan)
{
	struct sockaddr_un root = { .sun_family = AF_UNIX, .sun_path = "/" };
	CLOSE_ON_RETURN int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!(plan->traps & TRAP_CONNECT))
		return PROBE_HELD;
	if (connect(fd, (struct sockaddr *)&root, sizeof root) == 0 || errno == EFAULT)
		return PROBE_MEMORY_UNREADABLE;
	/* The kernel refuses, because it has no name, if it is really this socket that listens. */
	return listen(fd, 1) < 0 && errno == EINVAL ? PROBE_HELD : PROBE_NOTHING_BORROWED;
}

void begin_tool(const struct plan *plan, struct stdio stdio)
{
	sigset_t none;

	if (plan->terminal)
		join_terminal(plan, stdio.terminal);
	else if (setsid() < 0)
		die("session", NULL);
	for (int i = 0; i < 3; i++)
		if (dup2(stdio.at[i], i) < 0)
			die("stdio", NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Ignored by the supervisor, and exec keeps that; the others are as Node gives them to its children. */
	signal(SIGPIPE, SIG_DFL);
	umask(0022);
	if (chdir(plan->cwd) < 0)
		die("cwd", plan->cwd);
	/* We were forked from the keeper, which hides its memory; it must read ours. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		die("session", "dumpable");
}

#define HIGHEST_MARK (1ull << 62)
#define LOWEST_ROOM (1ull << 40) /* below that a mark could be guessed */

/* Below the own one, so that a cell in a cell has another, and random, so that nobody else can have it. */
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
	if (setrlimit(RLIMIT_LOCKS, &(struct rlimit){ mark, mark }) < 0)
		die("nesting", "the mark");
}

/*
 * Makes this process known to the outer keeper, by connect(), which is trapped there, with words in the place of an
 * address. The socket that is returned then leads to that keeper. See nested.c for what it does.
 */
static int join_outer_cell(const struct plan *plan)
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

void join_outer(const struct plan *plan, int supervisor)
{
	if (plan->network_nested) {
		CLOSE_ON_RETURN int outer = join_outer_cell(plan);
		send_packet(supervisor, PACKET_OUTER, 0, NULL, outer);
	} else if (plan->form == FORM_LANDLOCK && !plan->traps) {
		/* The keeper of an outer cell, if there is one, must not act for this tool as for its own. */
		set_mark(choose_mark());
	}
}

void hand_listener(int keeper, int listener)
{
	if (listener < 0)
		return;
	send_packet(keeper, PACKET_LISTENER, 0, NULL, listener);
	close(listener);
}
