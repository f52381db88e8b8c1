#pragma once

#include "wire/plan.h"

#include <linux/seccomp.h>

/* What a part of the keeper remembers from one call to the next is known to that part alone. */
struct attempts; /* files/observe.h */
struct terminals; /* files/terminals.h */
struct broker; /* network/broker.h */
struct nest; /* network/nested.h */

/* A tool may try the same thing a million times. The keeper reports it once, and a few hundred things at most. */
#define MOST_TOLD 512

struct told {
	uint64_t at[MOST_TOLD];
	size_t count;
	bool of_nested; /* a cell inside this one did it */
};

struct notification {
	const struct plan *plan;
	const struct seccomp_notif *request;
	int listener;
	int supervisor;
	pid_t keeper_in_proc; /* the keeper's number where /proc is an outer namespace's and has others; otherwise 0 */
	struct told *told;
	struct attempts *attempts;
	struct terminals *terminals;
	struct broker *broker; /* NULL where nobody answers for names */
	struct nest *nest; /* the cells inside this one */
};

/* The answer to a trapped call: 0, an errno, or one of these. */
enum {
	LET_THROUGH = -1, /* the kernel carries it out */
	ANSWERED = -2, /* already, or by a child of ours */
	NOT_OURS = -3, /* another part of the keeper decides */
};

void respond(const struct notification *call, int answer);
bool still_waiting(const struct notification *call);

static inline uint64_t argument(const struct notification *call, int index)
{
	return call->request->data.args[index];
}

/* Arguments that are 32 bits wide in the kernel, which ignores the upper half too. */
static inline int int_argument(const struct notification *call, int index)
{
	return (int)argument(call, index);
}

static inline unsigned unsigned_argument(const struct notification *call, int index)
{
	return (unsigned)argument(call, index);
}

bool read_tool_memory(const struct notification *call, uint64_t address, void *into, size_t length);
bool read_tool_string(const struct notification *call, uint64_t address, char *into, size_t room);
/* A duplicate of the tool's descriptor: the same open file, so that what we do to it happens to the tool's. */
int borrow_descriptor(const struct notification *call, int descriptor);
/* Gives the tool a descriptor of ours. `how`: SECCOMP_ADDFD_FLAG_…; `flags`: O_CLOEXEC. Its number there, or -1. */
int add_descriptor(const struct notification *call, int descriptor, unsigned how, int place, int flags);
/* The same as the answer. */
int hand_over(const struct notification *call, int descriptor, int flags);
int open_tool_directory(const struct notification *call, int at);
/* The tool's path as an object; /proc/self in it is the tool, not us. -1 with errno. */
int open_tool_path(const struct notification *call, int at, const char *path, int flags);
/* Interrupts the call that is carried out after so many microseconds, and then again and again. 0: no more. */
void interrupt_after(long first, long then);
bool path_of_descriptor(int fd, char *into, size_t room);
bool is_beneath(const char *path, const char *folder);

/* What /proc calls the process or thread that waits for an answer; 0 when it is gone. */
pid_t tool_in_proc(const struct notification *call);
/* The process, as the kernel calls it to us, that a thread belongs to; 0 when it is gone. */
pid_t process_of_thread(const struct notification *call, pid_t thread);

/*
 * Tells the host what the tool tried and the boundary refused. `fields`: the inside of a JSON object, different for
 * each kind (src/sandbox/result/events.ts reads it).
 */
void report_violation(const struct notification *call, const char *kind, const char *fields);
void report_path_violation(const struct notification *call, const char *kind, const char *path);
