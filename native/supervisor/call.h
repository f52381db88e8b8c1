/* One running call, as its supervisor sees it. */
#pragma once

#include "boundary/cgroup.h"
#include "supervisor/memory-files.h"
#include "supervisor/streams/channel.h"
#include "supervisor/streams/inbox.h"
#include "supervisor/streams/outbox.h"
#include "supervisor/streams/terminal.h"

struct call {
	const struct plan *plan;
	struct outbox outbox;
	int host, cell, ended; /* `ended`: a pidfd of the keeper */
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
	bool applied, started, host_gone, killed, exit_known;
	int exit_status;
	unsigned long long cpu; /* milliseconds */
	long largest; /* kilobytes resident */
	uint64_t memory_peak; /* bytes of all processes together, or 0 when nobody counted */
	const char *limit; /* the limit that ended the call */
	uint64_t began, next_look, next_measure, output;
	struct inbox input;
	uint64_t last_output; /* when, in milliseconds */
	bool resting; /* more output than one read per millisecond: it is left to gather for one */
	struct memory_files memory_files;
	unsigned looks_left; /* at whether all of it is on its way out */
};

/* An event for the host. */
void tell(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kill_cell(struct call *call);
