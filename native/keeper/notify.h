/* Shared by the files that answer trapped calls: notify.c, connect.c, metadata.c, observe.c. */
#ifndef CORDON_NOTIFY_H
#define CORDON_NOTIFY_H

#include "wire/cell.h"

struct seccomp_notif;

struct notification {
	const struct plan *plan;
	const struct seccomp_notif *request;
	int listener;
	int supervisor;
	struct broker *broker; /* NULL where hosts are not granted */
	struct nest *nest;     /* the cells inside this one */
};

void respond(const struct notification *call, int64_t value, int error);
void let_through(const struct notification *call);
bool still_waiting(const struct notification *call);

/* process-numbers.c */
/* What /proc calls a process or thread of the cell that the kernel calls `pid` to us; 0 when it is gone. */
pid_t number_in_proc(pid_t pid);
/* The process, as the kernel calls it to us, that a thread belongs to; 0 when it is gone. */
pid_t process_of_thread(pid_t thread);

bool read_tool_memory(const struct notification *call, uint64_t address, void *into, size_t length);
bool read_tool_string(const struct notification *call, uint64_t address, char *into, size_t room);
int borrow_descriptor(const struct notification *call, int descriptor);
int open_tool_directory(const struct notification *call, int at);
int open_tool_path(const struct notification *call, int at, const char *path, int flags);
bool path_of_descriptor(int fd, char *into, size_t room);
bool is_beneath(const char *path, const char *folder);
/* `fields`: what this kind of violation tells, as the inside of a JSON object (src/sandbox/result/events.ts reads it). */
void report_violation(const struct notification *call, const char *kind, const char *fields);
void report_path_violation(const struct notification *call, const char *kind, const char *path);

void answer_connect(const struct notification *call);
void answer_socket(const struct notification *call);
void answer_socket_pair(const struct notification *call);
void answer_signal(const struct notification *call);
void answer_inotify(const struct notification *call);
void answer_bind(const struct notification *call);
void answer_listen(const struct notification *call);
void answer_open(const struct notification *call);
void answer_change(const struct notification *call);
void answer_memory_file(const struct notification *call);
void answer_shared_mapping(const struct notification *call);
/* opening.c: gives the tool a descriptor of ours as its answer; `flags`: O_CLOEXEC */
void hand_over(const struct notification *call, int descriptor, int flags);
struct opening {
	int at;
	uint64_t pointer; /* to the path */
	int flags;
	mode_t mode;
};
/* False, and unanswered, when it is none that the keeper carries out. */
bool carry_out_open(const struct notification *call, const struct opening *opening);

/* kept.c */
struct place {
	int folder; /* O_PATH; the caller closes it */
	char name[256];
	char path[8192]; /* where it really lies */
	bool names_folder; /* a slash behind it */
};
bool find_place(const struct notification *call, int at, uint64_t pointer, struct place *place);
/* The same of a path that was read already, for a file to be made. `follows`: a link there leads to the place, as it does in the kernel. */
bool find_place_to_make(const struct notification *call, int at, const char *path, bool follows, struct place *place);
/* Whether a path lies in a write root in which the keeper acts for the tool. */
bool is_kept(const struct plan *plan, const char *path);
/* The same, and nothing hidden. */
bool may_read(const struct plan *plan, const char *path);
/* The same, and nothing protected. */
bool may_write(const struct plan *plan, const char *path);
/* The same, and nothing protected lies in it. */
bool may_move(const struct plan *plan, const char *path);
bool is_second_name(const struct plan *plan, int object, bool reads);
mode_t without_umask(const struct notification *call, mode_t mode);
/* making.c: false, and unanswered, when it is none of these calls, or elsewhere */
bool answer_making(const struct notification *call);

/* terminals.c: false, and unanswered, when it is no terminal of the tool's own */
bool open_terminal_for(const struct notification *call, int object, int flags);
void answer_ioctl(const struct notification *call);

/* False, and unanswered, when it is none of these calls. */
bool answer_metadata(const struct notification *call);

/* observe.c: what the tool tried and the boundary seems to refuse, for the host to judge. */
/* TO_MAKE also opens what is there; TO_MAKE_NEW would fail by itself then. */
enum attempt { TO_READ, TO_WRITE, TO_MAKE, TO_MAKE_NEW, ATTEMPTS };
/* `withheld`: the cell has no such object or, of what is to be made, no such folder. Each is told once. */
void report_attempt(const struct notification *call, const char *path, enum attempt attempt, bool withheld);
bool path_for_keeper(const struct notification *call, int at, const char *path, char *into, size_t room);
enum holding { FREE, HELD, MISSING };
/* Whether the boundary keeps the tool from reading or writing what the path names to the keeper. */
enum holding holding_of(const struct plan *plan, const char *path, unsigned right);
/* The same of writing in the folder that the path lies in. */
enum holding holding_of_folder(const struct plan *plan, const char *path);

#endif
