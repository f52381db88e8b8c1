/*
 * The supervisor: outside the boundary, from the first step to the last
 * descendant's end. One loop over the host, the cell, the streams and the clock.
 */
#include "supervisor/supervise.h"
#include "boundary/scratch.h"
#include "processes/descendants.h"
#include "supervisor/call.h"
#include "supervisor/farewell.h"
#include "supervisor/hear.h"
#include "supervisor/limits.h"
#include "supervisor/streams/channel.h"
#include "supervisor/streams/inbox.h"
#include "supervisor/streams/outbox.h"
#include "supervisor/streams/terminal.h"
#include "wire/clock.h"
#include "wire/frames.h"
#include "wire/read-frame.h"
#include "wire/report.h"
#include "wire/scope.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_FOR_OUTPUT 500 /* milliseconds */

static void take_keys(struct call *call)
{
	char bytes[1024];
	ssize_t got = read(call->terminal.caller, bytes, sizeof bytes);

	if (got > 0 && terminal_insists(&call->terminal, bytes, got))
		kill_cell(call);
	else if (got > 0)
		inbox_put(&call->input, bytes, got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		terminal_leave(&call->terminal); /* hung up; the host gets a signal for that */
}

static void hear_host(struct call *call)
{
	struct frame frame;

	if (!read_frame(call->host, &frame)) {
		call->host_gone = true;
		return;
	}
	switch (frame.kind) {
	case FRAME_INPUT:
		if (frame.length == 0)
			call->input.ends = true;
		else
			inbox_put(&call->input, frame.payload, frame.length);
		break;
	case FRAME_KILL: kill_cell(call); break;
	case FRAME_SIGNAL:
		/* To its process group, as a terminal would: a shell waits for its child, which must hear it, too. */
		if (call->tool > 0 && frame.length == 1)
			kill(-call->tool, frame.payload[0]);
		break;
	case FRAME_WINDOW: terminal_resize(&call->terminal); break;
	case FRAME_BEGIN: begin_clocks(call); break;
	case FRAME_TAKE_TERMINAL: terminal_take(&call->terminal); break;
	default:
		if (frame.kind == FRAME_COMMAND && call->plan->probe)
			break; /* it waits for none */
		errno = EPROTO;
		die("supervise", "a frame of an unknown kind");
	}
	free(frame.payload);
}

static void feed_input(struct call *call)
{
	int to = call->terminal.own >= 0 ? call->terminal.own : call->in;

	if (to >= 0)
		inbox_write(&call->input, to);
	if (call->input.ends && inbox_waiting(&call->input) == 0 && call->in >= 0) {
		close(call->in);
		call->in = -1;
	}
}

static void relay(struct call *call, int *from, enum frame_kind kind)
{
	char bytes[STREAM_BUFFER];
	bool to_terminal = from == &call->terminal.own;
	ssize_t got = read(*from, bytes, to_terminal ? sizeof call->terminal.pending : sizeof bytes);
	uint64_t limit = call->plan->limits.output;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close(*from);
		*from = -1;
		if (kind == FRAME_STDOUT)
			begin_farewell(call);
		return;
	}
	note_size(call);
	/* A reader that is always there wakes up for every small write, and that is paid for by the tool. */
	uint64_t now = milliseconds();
	call->resting = !to_terminal && now - call->last_output <= 1;
	call->last_output = now;
	call->output += got;
	if (limit && call->output > limit) {
		got -= call->output - limit < (uint64_t)got ? call->output - limit : (uint64_t)got;
		stop_for_limit(call, "output", limit, call->output);
	}
	if (to_terminal)
		terminal_show(&call->terminal, bytes, got);
	else if (got > 0 && !outbox_put(&call->outbox, kind, bytes, got))
		call->host_gone = true;
}

/* One turn of the loop; false once the last process of the tool is gone. */
static bool turn(struct call *call)
{
	bool room = outbox_empty(&call->outbox) && !call->resting; /* a slow host slows the tool, not our memory */
	bool input = inbox_waiting(&call->input) > 0;
	bool showing = terminal_has_pending(&call->terminal);
	struct pollfd polled[] = {
		{ .fd = call->ended, .events = POLLIN },
		{ .fd = call->cell, .events = POLLIN },
		/* Until the command came, its frame is the tool process's to read. */
		{ .fd = call->host_gone ? -1 : call->host,
		  .events = POLLRDHUP | (call->started && inbox_waiting(&call->input) < FRAME_LIMIT ? POLLIN : 0) |
			    (room ? 0 : POLLOUT) },
		{ .fd = room ? call->out : -1, .events = POLLIN },
		{ .fd = room ? call->err : -1, .events = POLLIN },
		{ .fd = input ? call->in : -1, .events = POLLOUT },
		{ .fd = call->terminal.own, .events = (showing ? 0 : POLLIN) | (input ? POLLOUT : 0) },
		/* Not polled for nothing: a terminal that hung up says so at every turn. */
		{ .fd = showing || (call->terminal.taken && !input) ? call->terminal.caller : -1,
		  .events = (showing ? POLLOUT : 0) | (call->terminal.taken && !input ? POLLIN : 0) },
		{ .fd = call->courier.count ? call->courier.channel : -1, .events = POLLOUT },
		{ .fd = call->outer, .events = POLLIN },
	};

	int wait = time_to_wait(call, milliseconds());
	if (call->resting && (wait < 0 || wait > 1))
		wait = 1;
	call->resting = false;
	struct timespec time = { .tv_sec = call->looks_left ? 0 : wait / 1000,
				 .tv_nsec = call->looks_left ? 100000 : wait % 1000 * 1000000L };
	if (ppoll(polled, sizeof polled / sizeof *polled, wait < 0 && !call->looks_left ? NULL : &time, NULL) < 0 &&
	    errno != EINTR)
		die("supervise", "poll");
	if (polled[1].revents)
		hear_cell(call);
	if (polled[9].revents)
		hear_outer(call);
	if (polled[2].revents & POLLOUT && !outbox_flush(&call->outbox))
		call->host_gone = true;
	if (polled[2].revents & POLLIN)
		hear_host(call);
	else if (polled[2].revents & (POLLRDHUP | POLLHUP | POLLERR))
		call->host_gone = true;
	if (polled[3].revents)
		relay(call, &call->out, FRAME_STDOUT);
	if (polled[4].revents)
		relay(call, &call->err, FRAME_STDERR);
	if (polled[7].revents)
		terminal_flush(&call->terminal);
	if (polled[7].revents & (POLLIN | POLLHUP | POLLERR) && call->terminal.taken && !input)
		take_keys(call);
	if (polled[6].revents & (POLLIN | POLLHUP) && !terminal_has_pending(&call->terminal))
		relay(call, &call->terminal.own, FRAME_STDOUT);
	if (polled[8].revents)
		courier_go(&call->courier);
	feed_input(call);
	if (call->started && !call->killed)
		look_after_limits(call, milliseconds());
	if (call->host_gone) { /* nobody is left to run for */
		terminal_leave(&call->terminal);
		kill_cell(call);
	}
	insist_on_end(call, milliseconds());
	look_whether_gone(call);
	return !call->exit_known && !(polled[0].revents & POLLIN);
}

/* All that waits for the host or its terminal, however slow they are. */
static void deliver(struct call *call)
{
	while (!call->host_gone && (!outbox_empty(&call->outbox) || terminal_has_pending(&call->terminal))) {
		struct pollfd polled[] = {
			{ .fd = call->host, .events = POLLRDHUP | (outbox_empty(&call->outbox) ? 0 : POLLOUT) },
			{ .fd = terminal_has_pending(&call->terminal) ? call->terminal.caller : -1, .events = POLLOUT },
		};
		poll(polled, 2, -1);
		terminal_flush(&call->terminal);
		call->host_gone = !outbox_flush(&call->outbox) || polled[0].revents & POLLRDHUP;
	}
}

/* The tool is gone; what it wrote before is still in the pipes. */
static void drain(struct call *call)
{
	struct {
		int *from;
		enum frame_kind kind;
	} streams[] = {
		{ &call->out, FRAME_STDOUT },
		{ &call->err, FRAME_STDERR },
		{ &call->terminal.own, FRAME_STDOUT },
	};

	for (size_t i = 0; i < 3; i++) {
		while (*streams[i].from >= 0 && !call->host_gone) {
			if (poll(&(struct pollfd){ .fd = *streams[i].from, .events = POLLIN }, 1, 0) <= 0)
				break;
			relay(call, streams[i].from, streams[i].kind);
			deliver(call);
		}
	}
	terminal_leave(&call->terminal);
}

static void tell_end(struct call *call)
{
	int status = call->exit_status;
	int code = call->exit_known && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	int signal = call->exit_known ? (WIFSIGNALED(status) ? WTERMSIG(status) : 0) : SIGKILL;

	if (!call->started && !call->host_gone)
		tell(call,
		     "{\"event\":\"error\",\"stage\":\"cell\",\"errno\":0,\"error\":\"\",\"detail\":\"the cell ended before the program began\"}");
	tell(call,
	     "{\"event\":\"exit\",\"code\":%d,\"signal\":%d,\"limit\":\"%s\",\"wall_ms\":%llu,\"cpu_ms\":%llu,\"max_rss_kb\":%ld,\"memory_peak\":%llu}",
	     code, signal, call->limit ? call->limit : "",
	     (unsigned long long)(call->started ? milliseconds() - call->began : 0), call->cpu, call->largest,
	     (unsigned long long)call->memory_peak);
	deliver(call);
}

static void wait_for_keeper(struct call *call)
{
	struct rusage usage;

	if (wait4(call->keeper, NULL, 0, &usage) < 0)
		return;
	unsigned long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000ull +
				 (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	/* Only of those that it has waited for itself; more may be known. */
	call->cpu = cpu > call->cpu ? cpu : call->cpu;
	call->largest = usage.ru_maxrss > call->largest ? usage.ru_maxrss : call->largest;
}

/* The tool is gone, so that only whether the call shall end matters of what the host says. */
static bool host_wants_end(struct call *call)
{
	struct frame frame;

	if (!read_frame(call->host, &frame))
		return true;
	bool wanted = frame.kind == FRAME_KILL || frame.kind == FRAME_SIGNAL;
	free(frame.payload);
	return wanted;
}

/* Output is written to its end, as fast as its reader reads; but a call that was ended does not wait for that. */
static void wait_for_copier(struct call *call, pid_t copier)
{
	CLOSE_ON_RETURN int process = copier > 0 ? (int)syscall(SYS_pidfd_open, copier, 0) : -1;
	struct pollfd polled[] = { { .fd = process, .events = POLLIN },
				   { .fd = call->host, .events = POLLIN | POLLRDHUP } };

	while (process >= 0) {
		int happened = poll(polled, 2, call->killed || call->host_gone ? GRACE_FOR_OUTPUT : -1);
		if (happened == 0 || polled[0].revents)
			return;
		if (polled[1].revents && host_wants_end(call)) {
			call->killed = true;
			polled[1].fd = -1;
		}
	}
}

int supervise(const struct plan *plan, int host, int channel, int cell, pid_t keeper, const struct cgroup *cgroup,
	      struct stdio stdio, const struct copiers *copiers)
{
	struct call call = {
		.plan = plan,
		.outbox = { .host = host },
		.host = host,
		.cell = cell,
		.keeper = keeper,
		.cgroup = cgroup,
		.in = stdio.at[0],
		.out = stdio.at[1],
		.err = stdio.at[2],
		.terminal = { .caller = stdio.terminal, .own = -1 },
		.scratch = -1,
		.cpu_counter = -1,
		.outer = -1,
		.courier = { .channel = channel, .token = plan->broker.token },
	};

	call.ended = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (call.ended < 0)
		die("supervise", "pidfd_open");
	while (turn(&call))
		;
	hear_cell(&call);
	if (call.started)
		look_at_scratch(&call);
	if (!call.exit_known) {
		/* Killed: by us, or by somebody. Its charges are ours now where no pid namespace took them along. */
		wait_for_keeper(&call);
		if (plan->form == FORM_LANDLOCK)
			kill_descendants(getpid(), copiers->pids, 3);
	}
	look_at_cgroup(&call);
	name_limit_of_signal(&call);
	remove_scratch(plan);
	drain(&call);
	finish_input(copiers);
	for (int i = 1; i < 3; i++)
		wait_for_copier(&call, copiers->pids[i]);
	end_copiers(copiers);
	tell_end(&call);
	linger(host);
	waitpid(keeper, NULL, 0);
	remove_cgroup(cgroup);
	return 0;
}
