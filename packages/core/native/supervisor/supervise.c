/*
 * The supervisor: outside the boundary, from the first step to the last descendant's end. One loop over the host, the
 * cell, the streams and the clock.
 */
#include "supervisor/supervise.h"
#include "boundary/scratch.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "supervisor/farewell.h"
#include "supervisor/hear.h"
#include "supervisor/limits.h"
#include "wire/launcher.h"
#include "wire/read-frame.h"
#include "wire/report.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define GRACE_FOR_OUTPUT 500 /* milliseconds */

static void end_early(struct call *call)
{
	note_usage(call);
	kill_cell(call);
}

static void take_keys(struct call *call)
{
	char bytes[1024];
	ssize_t got = read(call->terminal.caller, bytes, sizeof bytes);

	if (got > 0 && terminal_insists(&call->terminal, bytes, got))
		end_early(call);
	else if (got > 0)
		enqueue(&call->input, bytes, got);
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
		call->input_ends = call->input_ends || frame.length == 0;
		enqueue(&call->input, frame.payload, frame.length);
		break;
	case FRAME_KILL: end_early(call); break;
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

	while (to >= 0 && waiting(&call->input) > 0) {
		ssize_t put = write(to, call->input.bytes + call->input.at, waiting(&call->input));
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			break;
		/* The tool closed its input: the rest is dropped. */
		call->input_ends = call->input_ends || put < 0;
		call->input.at += put < 0 ? waiting(&call->input) : (size_t)put;
	}
	if (call->input_ends && waiting(&call->input) == 0 && call->in >= 0) {
		close(call->in);
		call->in = -1;
	}
}

static void pass_on_output(struct call *call, int *from, enum frame_kind kind)
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
		if (kind == FRAME_STDOUT) {
			/* A host that waits for answers must know that none will come. */
			if (call->plan->delivers_at_once)
				put_frame(call, kind, "", 0);
			begin_farewell(call);
		}
		return;
	}
	note_size(call);
	/* A reader that wakes up for every small write slows the tool. One that waits for an answer wants it at once.
	 */
	uint64_t now = milliseconds();
	call->resting = !to_terminal && !call->plan->delivers_at_once && now - call->last_output <= 1;
	call->last_output = now;
	call->output += got;
	if (limit && call->output > limit) {
		got -= call->output - limit < (uint64_t)got ? call->output - limit : (uint64_t)got;
		stop_for_limit(call, "output", limit, call->output);
	}
	if (to_terminal)
		terminal_show(&call->terminal, bytes, got);
	else if (got > 0)
		put_frame(call, kind, bytes, got);
}

/* One turn of the loop; false once the last process of the tool is gone. */
static volatile sig_atomic_t caller_ended;

static void note_end_of_caller(int signal)
{
	(void)signal;
	caller_ended = 1;
}

static bool turn(struct call *call)
{
	bool room = waiting(&call->outbox) == 0 && !call->resting; /* a slow host slows the tool, not our memory */
	bool input = waiting(&call->input) > 0;
	bool showing = terminal_has_pending(&call->terminal);
	struct pollfd polled[] = {
		{ .fd = call->ended, .events = POLLIN },
		{ .fd = call->cell, .events = POLLIN },
		/* Until the command came, its frame is the tool process's to read. */
		{ .fd = call->host_gone ? -1 : call->host,
		  .events = POLLRDHUP | (call->started && waiting(&call->input) < FRAME_LIMIT ? POLLIN : 0) |
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
				 .tv_nsec = call->looks_left ? pause_before_look(call) : wait % 1000 * 1000000L };
	if (ppoll(polled, COUNT_OF(polled), wait < 0 && !call->looks_left ? NULL : &time, &call->unblocked) < 0 &&
	    errno != EINTR)
		die("supervise", "poll");
	call->host_gone = call->host_gone || caller_ended;
	if (polled[1].revents)
		hear_cell(call);
	if (polled[9].revents)
		hear_outer(call);
	if (polled[2].revents & POLLOUT)
		flush_frames(call);
	if (polled[2].revents & POLLIN)
		hear_host(call);
	else if (polled[2].revents & (POLLRDHUP | POLLHUP | POLLERR))
		call->host_gone = true;
	if (polled[3].revents)
		pass_on_output(call, &call->out, FRAME_STDOUT);
	if (polled[4].revents)
		pass_on_output(call, &call->err, FRAME_STDERR);
	if (polled[7].revents)
		terminal_flush(&call->terminal);
	if (polled[7].revents & (POLLIN | POLLHUP | POLLERR) && call->terminal.taken && !input)
		take_keys(call);
	if (polled[6].revents & (POLLIN | POLLHUP) && !terminal_has_pending(&call->terminal))
		pass_on_output(call, &call->terminal.own, FRAME_STDOUT);
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
	while (!call->host_gone && (waiting(&call->outbox) > 0 || terminal_has_pending(&call->terminal))) {
		struct pollfd polled[] = {
			{ .fd = call->host, .events = POLLRDHUP | (waiting(&call->outbox) > 0 ? POLLOUT : 0) },
			{ .fd = terminal_has_pending(&call->terminal) ? call->terminal.caller : -1, .events = POLLOUT },
		};
		if (ppoll(polled, 2, NULL, &call->unblocked) > 0) {
			terminal_flush(&call->terminal);
			flush_frames(call);
			call->host_gone = call->host_gone || polled[0].revents & POLLRDHUP;
		}
		call->host_gone = call->host_gone || caller_ended;
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
			pass_on_output(call, streams[i].from, streams[i].kind);
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
	     "{\"event\":\"exit\",\"code\":%d,\"signal\":%d,\"limit\":\"%s\",\"wall_ms\":%lu,\"cpu_ms\":%lu,\"max_rss_kb\":%ld,\"memory_peak\":%lu}",
	     code, signal, call->limit ? call->limit : "", call->started ? milliseconds() - call->began : 0, call->cpu,
	     call->largest, call->memory_peak);
	deliver(call);
}

static void wait_for_keeper(struct call *call)
{
	struct rusage usage;

	if (wait4(call->keeper, NULL, 0, &usage) < 0)
		return;
	uint64_t cpu = cpu_in(&usage);
	/* Only of those that it has waited for itself; more may be known. */
	call->cpu = cpu > call->cpu ? cpu : call->cpu;
	call->largest = usage.ru_maxrss > call->largest ? usage.ru_maxrss : call->largest;
}

/* The tool is gone: all that the host can still want is an end. */
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

/* Nobody holds the tool to its limits while we die. A keeper that still lives ends its cell itself. */
static void end_cell(void *context)
{
	const struct call *call = context;
	bool enclosed = call->plan->form == FORM_NAMESPACES;

	if (syscall(SYS_pidfd_send_signal, call->ended, enclosed ? SIGKILL : SIGTERM, NULL, 0) == 0)
		poll(&(struct pollfd){ .fd = call->ended, .events = POLLIN }, 1, 1000);
	if (!enclosed) {
		kill_descendants(getpid(), NULL, 0);
		remove_scratch(call->plan);
	}
}

/* Blocked but while we wait, so that it is never missed. */
static void hear_of_caller(struct call *call)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, CALLER_ENDED);
	sigprocmask(SIG_BLOCK, &blocked, &call->unblocked);
	sigdelset(&call->unblocked, CALLER_ENDED);
	signal(CALLER_ENDED, note_end_of_caller);
}

int supervise(const struct plan *plan, int host, int channel, int cell, pid_t keeper, const struct cgroup *cgroup,
	      struct stdio stdio, const struct copiers *copiers)
{
	struct call call = {
		.plan = plan,
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

	hear_of_caller(&call);
	call.ended = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (call.ended < 0)
		die("supervise", "pidfd_open");
	before_dying(end_cell, &call);
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
