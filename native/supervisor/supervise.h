/* One running call, as its supervisor sees it. */
#ifndef CORDON_SUPERVISE_H
#define CORDON_SUPERVISE_H

#include "wire/cell.h"
#include "boundary/cgroup.h"
#include "supervisor/channel.h"
#include "supervisor/inbox.h"
#include "supervisor/outbox.h"
#include "supervisor/terminal.h"

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
	long largest;           /* kilobytes resident */
	uint64_t memory_peak;   /* bytes of all processes together, or 0 when nobody counted */
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
uint64_t milliseconds(void);

/* ---- hear.c ---- */

void hear_cell(struct call *call);
void hear_outer(struct call *call);

/* ---- farewell.c ---- */

/* While it speaks: later nobody knows. */
void note_size(struct call *call);
/* It has closed its output. */
void begin_farewell(struct call *call);
void look_whether_gone(struct call *call);

/* ---- limits.c ---- */

void stop_for_limit(struct call *call, const char *limit, uint64_t allowed, uint64_t used);
/* Once it has ended. */
void name_limit_of_signal(struct call *call);
/* Bytes of memory in the private folder. */
uint64_t look_at_scratch(struct call *call);
/* The call begins: what was used before does not count. */
void begin_clocks(struct call *call);
void look_after_limits(struct call *call, uint64_t now);
/* What the kernel counted and refused, once everything is over. */
void look_at_cgroup(struct call *call);
/* A keeper that does not end what it was told to end is ended itself. */
void insist_on_end(const struct call *call, uint64_t now);
/* Milliseconds until a limit must be looked at, as poll() takes them. */
int time_to_wait(const struct call *call, uint64_t now);

#endif
