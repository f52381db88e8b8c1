/* One trapped system call of the tool: its arguments, the tool's memory and descriptors behind them, and the answer. */
#pragma once

#include "wire/plan.h"

#include <linux/seccomp.h>
#include <sys/types.h>

/* What the keeper remembers from one call to the next is each part's own, and known to that alone. */
struct told; /* violations.h */
struct attempts; /* files/observe.h */
struct terminals; /* files/terminals.h */
struct broker; /* network/broker.h */
struct nest; /* network/nested.h */

struct notification {
	const struct plan *plan;
	const struct seccomp_notif *request;
	int listener;
	int supervisor;
	pid_t keeper_in_proc; /* the keeper's number where /proc is an outer namespace's and has others; otherwise 0 */
	struct told *told;
	struct attempts *attempts;
	struct terminals *terminals;
	struct broker *broker; /* NULL where hosts are not granted */
	struct nest *nest; /* the cells inside this one */
};

/* Arguments that are 32 bits wide in the kernel, which ignores the upper half too. */
static inline int int_argument(const struct notification *call, int index)
{
	return (int)call->request->data.args[index];
}

static inline unsigned unsigned_argument(const struct notification *call, int index)
{
	return (unsigned)call->request->data.args[index];
}

void respond(const struct notification *call, int64_t value, int error);
void let_through(const struct notification *call);
/* Gives the tool a descriptor of ours as its answer; `flags`: O_CLOEXEC */
void hand_over(const struct notification *call, int descriptor, int flags);
bool still_waiting(const struct notification *call);

bool read_tool_memory(const struct notification *call, uint64_t address, void *into, size_t length);
bool read_tool_string(const struct notification *call, uint64_t address, char *into, size_t room);
/* A duplicate of the tool's descriptor: the same open file, so that what we do to it happens to the tool's. */
int borrow_descriptor(const struct notification *call, int descriptor);
int open_tool_directory(const struct notification *call, int at);
/* The tool's path as an object; /proc/self in it is the tool, not us. -1 with errno. */
int open_tool_path(const struct notification *call, int at, const char *path, int flags);
bool path_of_descriptor(int fd, char *into, size_t room);
bool is_beneath(const char *path, const char *folder);

/* What /proc calls a process or thread of the cell that the kernel calls `pid` to us; 0 when it is gone. */
pid_t number_in_proc(const struct notification *call, pid_t pid);
/* The process, as the kernel calls it to us, that a thread belongs to; 0 when it is gone. */
pid_t process_of_thread(const struct notification *call, pid_t thread);
