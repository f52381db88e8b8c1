/*
 * The supervisor: outside the boundary, from the first step to the last
 * descendant's end. One loop over the host, the cell, the streams and the clock.
 */
#include "cell.h"
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
	const struct plan *plan;
	struct outbox outbox;
	int host, cell, ended; /* `ended`: a pidfd of the keeper */
	int in, out, err, terminal, scratch;
	pid_t keeper, tool;
	bool scratch_told;
	bool applied, started, host_gone, killed, exit_known;
	int exit_status;
	unsigned long long cpu; /* milliseconds */
	long largest;           /* kilobytes resident */
	const char *limit; /* the limit that ended the call */
	uint64_t began, next_look, output;
	char *input; /* for the tool's stdin, not yet written */
	size_t input_at, input_length;
	bool input_ends;
};

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static void tell(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(struct call *call, const char *format, ...)
{
	char line[8192];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (!outbox_put(&call->outbox, FRAME_EVENT, line, length < (int)sizeof line ? length : (int)sizeof line - 1))
		call->host_gone = true;
}

static void kill_cell(struct call *call)
{
	if (call->killed)
		return;
	call->killed = true;
	/* Without a pid namespace the keeper outlives the kill, because it is told how the tool ended. */
	if (call->plan->form == FORM_LANDLOCK)
		kill_descendants(call->keeper);
	else
		kill(call->keeper, SIGKILL);
}

static void tell_violation(struct call *call, const char *limit, uint64_t allowed, uint64_t used)
{
	tell(call, "{\"event\":\"violation\",\"kind\":\"%s\",\"attempted\":\"%llu\",\"detail\":\"limit %llu\"}", limit,
	     (unsigned long long)used, (unsigned long long)allowed);
}

static void stop_for_limit(struct call *call, const char *limit, uint64_t allowed, uint64_t used)
{
	if (call->limit)
		return;
	call->limit = limit;
	tell_violation(call, limit, allowed, used);
	kill_cell(call);
}

static void hear_cell(struct call *call)
{
	struct packet packet;
	int descriptor;
	pid_t sender = 0;

	while (receive_packet(call->cell, &packet, &descriptor, &sender) > 0) {
		switch (packet.kind) {
		case PACKET_LISTENER:
			call->applied = true;
			call->tool = sender;
			tell(call, "{\"event\":\"applied\",\"landlock\":%d,\"pid\":%d}", packet.value, sender);
			break;
		case PACKET_GO:
			call->started = true;
			call->began = milliseconds();
			call->next_look = call->began + 2;
			break;
		case PACKET_TERMINAL:
			call->terminal = descriptor;
			descriptor = -1;
			break;
		case PACKET_SCRATCH:
			call->scratch = descriptor;
			descriptor = -1;
			break;
		case PACKET_EXIT:
			call->exit_known = true;
			call->exit_status = packet.value;
			sscanf(packet.text, "%llu %ld", &call->cpu, &call->largest);
			break;
		case PACKET_EVENT:
			if (!outbox_put(&call->outbox, FRAME_EVENT, packet.text, strlen(packet.text)))
				call->host_gone = true;
			break;
		}
		if (descriptor >= 0)
			close(descriptor);
	}
}

static void take_input(struct call *call, const struct frame *frame)
{
	if (frame->length == 0) {
		call->input_ends = true;
		return;
	}
	if (call->input_at == call->input_length)
		call->input_at = call->input_length = 0;
	char *grown = realloc(call->input, call->input_length + frame->length);
	if (!grown)
		return;
	call->input = grown;
	memcpy(call->input + call->input_length, frame->payload, frame->length);
	call->input_length += frame->length;
}

static void hear_host(struct call *call)
{
	struct frame frame;

	if (!read_frame(call->host, &frame)) {
		call->host_gone = true;
		return;
	}
	switch (frame.kind) {
	case FRAME_STDIN:
		take_input(call, &frame);
		break;
	case FRAME_KILL:
		kill_cell(call);
		break;
	case FRAME_SIGNAL:
		if (call->tool > 0 && frame.length == 1)
			kill(call->tool, frame.payload[0]);
		break;
	case FRAME_WINDOW: {
		struct winsize size;
		if (call->terminal >= 0 && frame.length == sizeof size) {
			memcpy(&size, frame.payload, sizeof size);
			ioctl(call->terminal, TIOCSWINSZ, &size);
		}
		break;
	}
	default:
		break;
	}
	free(frame.payload);
}

static void feed_input(struct call *call)
{
	int *to = call->terminal >= 0 ? &call->terminal : &call->in;

	while (*to >= 0 && call->input_at < call->input_length) {
		ssize_t put = write(*to, call->input + call->input_at, call->input_length - call->input_at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put < 0) { /* the tool closed its input; what is left is nobody's */
			call->input_at = call->input_length;
			call->input_ends = true;
			break;
		}
		call->input_at += put;
	}
	if (call->input_ends && call->input_at == call->input_length && call->in >= 0) {
		close(call->in);
		call->in = -1;
	}
}

static void relay(struct call *call, int *from, enum frame_kind kind)
{
	static char bytes[STREAM_BUFFER]; /* the supervisor has one thread */
	ssize_t got = read(*from, bytes, sizeof bytes);
	uint64_t limit = call->plan->limits.output;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close(*from);
		*from = -1;
		return;
	}
	call->output += got;
	if (limit && call->output > limit) {
		got -= call->output - limit < (uint64_t)got ? call->output - limit : (uint64_t)got;
		stop_for_limit(call, "output", limit, call->output);
	}
	if (got > 0 && !outbox_put(&call->outbox, kind, bytes, got))
		call->host_gone = true;
}

/* Bytes of memory in the private folder. A full one stops by itself (tmpfs) or is stopped here, and is told. */
static uint64_t look_at_scratch(struct call *call)
{
	uint64_t limit = call->plan->limits.scratch;
	struct statfs status;

	if (call->plan->form == FORM_LANDLOCK) {
		uint64_t in_use = scratch_in_use(call->plan) + unlinked_bytes(call->keeper, call->plan->scratch);
		if (limit && in_use > limit)
			stop_for_limit(call, "scratch", limit, in_use);
		return 0; /* on a disk */
	}
	if (call->scratch < 0 || fstatfs(call->scratch, &status) < 0)
		return 0;
	uint64_t in_use = (status.f_blocks - status.f_bfree) * status.f_bsize;
	if (!call->scratch_told && (status.f_bfree == 0 || status.f_ffree == 0)) {
		call->scratch_told = true;
		tell_violation(call, "scratch", limit, in_use);
	}
	return in_use;
}

static bool needs_looks(const struct plan *plan)
{
	return plan->limits.memory || plan->limits.cpu || plan->limits.scratch;
}

/* What no rlimit covers: all processes of the cell together. */
static void look_after_limits(struct call *call, uint64_t now)
{
	const struct limits *limits = &call->plan->limits;
	struct consumption used;

	if (limits->wall && now - call->began >= limits->wall)
		stop_for_limit(call, "wall", limits->wall, now - call->began);
	if (!needs_looks(call->plan) || now < call->next_look)
		return;
	uint64_t in_scratch = look_at_scratch(call);
	if (!limits->memory && !limits->cpu) {
		call->next_look = now + 50;
		return;
	}
	measure_descendants(call->keeper, &used);
	if (limits->cpu && used.cpu >= limits->cpu)
		stop_for_limit(call, "cpu", limits->cpu, used.cpu);
	uint64_t headroom = limits->memory;
	if (limits->memory) {
		/* Memory files need not be mapped by anybody, so the exact look is taken now and then all the same. */
		uint64_t exact = used.resident + in_scratch;
		if (exact > limits->memory / 2 || (now - call->began) % 8 == 0)
			exact = proportional_memory(call->keeper) + in_scratch;
		if (exact > limits->memory)
			stop_for_limit(call, "memory", limits->memory, exact);
		else
			headroom = limits->memory - exact;
	}
	/* A process fills about a megabyte in a millisecond; look again well before the rest is full. */
	uint64_t pause = limits->memory ? headroom / (2u << 20) : 50;
	call->next_look = now + (pause < 3 ? 3 : pause > 50 ? 50 : pause);
}

static int time_to_wait(const struct call *call, uint64_t now)
{
	const struct limits *limits = &call->plan->limits;
	uint64_t until = UINT64_MAX;

	if (!call->started || call->killed)
		return -1;
	if (limits->wall)
		until = call->began + limits->wall;
	if (needs_looks(call->plan) && call->next_look < until)
		until = call->next_look;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)(until - now < 60000 ? until - now : 60000);
}

/* One turn of the loop; false once the last process of the tool is gone. */
static bool turn(struct call *call)
{
	bool room = outbox_empty(&call->outbox); /* a slow host slows the tool, not our memory */
	bool input = call->input_at < call->input_length;
	int terminal_events = (room ? POLLIN : 0) | (input ? POLLOUT : 0);
	struct pollfd polled[] = {
		{ .fd = call->ended, .events = POLLIN },
		{ .fd = call->cell, .events = POLLIN },
		/* Until the command came, its frame is the tool process's to read. */
		{ .fd = call->host_gone ? -1 : call->host,
		  .events = POLLRDHUP | (call->started && call->input_length - call->input_at < FRAME_LIMIT ? POLLIN : 0) | (room ? 0 : POLLOUT) },
		{ .fd = room ? call->out : -1, .events = POLLIN },
		{ .fd = room ? call->err : -1, .events = POLLIN },
		{ .fd = input ? call->in : -1, .events = POLLOUT },
		{ .fd = call->terminal, .events = terminal_events },
	};

	if (poll(polled, sizeof polled / sizeof *polled, time_to_wait(call, milliseconds())) < 0 && errno != EINTR)
		die("supervise", "poll");
	if (polled[1].revents)
		hear_cell(call);
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
	if (polled[6].revents & (POLLIN | POLLHUP))
		relay(call, &call->terminal, FRAME_STDOUT);
	feed_input(call);
	if (call->started && !call->killed)
		look_after_limits(call, milliseconds());
	if (call->host_gone)
		kill_cell(call); /* nobody is left to run for */
	return !call->exit_known && !(polled[0].revents & POLLIN);
}

/* The tool is gone; what it wrote before is still in the pipes. */
static void drain(struct call *call)
{
	struct { int *from; enum frame_kind kind; } streams[] = {
		{ &call->out, FRAME_STDOUT }, { &call->err, FRAME_STDERR }, { &call->terminal, FRAME_STDOUT },
	};

	for (size_t i = 0; i < 3; i++) {
		while (*streams[i].from >= 0 && !call->host_gone) {
			if (poll(&(struct pollfd){ .fd = *streams[i].from, .events = POLLIN }, 1, 0) <= 0)
				break;
			relay(call, streams[i].from, streams[i].kind);
			while (!outbox_empty(&call->outbox) && !call->host_gone) {
				poll(&(struct pollfd){ .fd = call->host, .events = POLLOUT }, 1, -1);
				call->host_gone = !outbox_flush(&call->outbox);
			}
		}
	}
}

static void tell_end(struct call *call)
{
	int status = call->exit_status;
	int code = call->exit_known && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	int signal = call->exit_known ? (WIFSIGNALED(status) ? WTERMSIG(status) : 0) : SIGKILL;

	if (!call->started && !call->host_gone)
		tell(call, "{\"event\":\"error\",\"stage\":\"cell\",\"errno\":0,\"error\":\"\",\"detail\":\"the cell ended before the program began\"}");
	tell(call, "{\"event\":\"exit\",\"code\":%d,\"signal\":%d,\"limit\":\"%s\",\"wall_ms\":%llu,\"cpu_ms\":%llu,\"max_rss_kb\":%ld}",
	     code, signal, call->limit ? call->limit : "", (unsigned long long)(call->started ? milliseconds() - call->began : 0),
	     call->cpu, call->largest);
	while (!outbox_empty(&call->outbox) && !call->host_gone) {
		poll(&(struct pollfd){ .fd = call->host, .events = POLLOUT }, 1, -1);
		call->host_gone = !outbox_flush(&call->outbox);
	}
}

static void wait_for_keeper(struct call *call)
{
	struct rusage usage;

	if (wait4(call->keeper, NULL, 0, &usage) < 0)
		return;
	call->cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000ull + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	call->largest = usage.ru_maxrss;
}

int supervise(const struct plan *plan, int host, int cell, pid_t keeper, struct stdio stdio)
{
	struct call call = {
		.plan = plan, .outbox = { .host = host }, .host = host, .cell = cell, .keeper = keeper,
		.in = stdio.in, .out = stdio.out, .err = stdio.err, .terminal = -1, .scratch = -1,
	};

	call.ended = syscall(SYS_pidfd_open, keeper, 0);
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
			kill_descendants(getpid());
	}
	remove_scratch(plan);
	drain(&call);
	tell_end(&call);
	linger(host);
	waitpid(keeper, NULL, 0);
	return 0;
}
