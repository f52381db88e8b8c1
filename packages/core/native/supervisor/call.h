#pragma once

#include "boundary/cgroup.h"
#include "supervisor/memory.h"
#include "supervisor/streams/channel.h"
#include "supervisor/streams/terminal.h"
#include "wire/frames.h"

/* Bytes that wait for a tool or a host that is slow. The supervisor never does, or its clocks would stop. */
struct queue {
	char *bytes;
	size_t at, length, room;
};

struct call {
	const struct plan *plan;
	int host, cell, ended; /* `ended`: a pidfd of the keeper */
	sigset_t unblocked; /* while it waits: the end of the caller */
	struct queue outbox, input;
	bool input_ends; /* behind what waits */
	struct courier courier;
	int in, out, err, scratch, cpu_counter;
	int outer; /* where the keeper of the cell around this one tells of connections, or -1 */
	struct terminal terminal;
	pid_t keeper, tool;
	const struct cgroup *cgroup;
	bool scratch_told;
	bool begun; /* its clocks run */
	uint64_t cpu_before; /* milliseconds used while it waited for its call */
	uint64_t killed_at;
	bool started, host_gone, killed, exit_known;
	int exit_status;
	uint64_t cpu; /* milliseconds */
	long largest; /* kilobytes resident */
	uint64_t memory_peak; /* bytes of all processes together, or 0 when nobody counted */
	const char *limit; /* the limit that ended the call */
	uint64_t began, next_look, next_measure, output;
	uint64_t last_output; /* when, in milliseconds */
	bool resting; /* there is more output than one read per millisecond: it gathers until the next */
	struct memory_files memory_files;
	unsigned looks_left; /* at whether all processes are on their way out */
};

size_t waiting(const struct queue *queue);
void enqueue(struct queue *queue, const void *bytes, size_t length);
/* For the host. */
void put_frame(struct call *call, enum frame_kind kind, const void *payload, size_t length);
void flush_frames(struct call *call);
void tell(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kill_cell(struct call *call);
