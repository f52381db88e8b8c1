/*
 * The cell: one tool call in its own kernel-enforced sandbox.
 *
 * Three processes make a cell:
 *
 *   supervisor   outside the boundary; owns the host connection, clocks and limits
 *   keeper       inside the namespaces (pid 1 there), not confined; reaps, and
 *                answers the tool's trapped system calls
 *   tool         confined, then execs the program
 *
 * Each header comment below names the file that implements the part.
 */
#ifndef CORDON_CELL_H
#define CORDON_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define CORDON_CELL_VERSION "1"

/* Exit status of a process of ours that could not build the boundary. */
#define EXIT_REFUSED 125

/* Exit status of a probe: what the keeper can do for the tool. */
enum probe_status { PROBE_HELD, PROBE_NOTHING_BORROWED, PROBE_MEMORY_UNREADABLE };

#define CLOSE_ON_RETURN __attribute__((cleanup(close_descriptor)))
#define FREE_ON_RETURN __attribute__((cleanup(free_pointer)))

void close_descriptor(int *fd);
void free_pointer(void *pointer);

/* ---- report.c: what the host gets to know ------------------------------ */

/* Everything that goes wrong while the boundary is built ends here: an event
 * with the stage and errno, so that it is never mistaken for the tool's exit. */
_Noreturn void die(const char *stage, const char *detail);
void linger(int host);
void report_to(int host);
void report_from_inside(void); /* the supervisor speaks after us */
void report_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends `text` as the inside of a JSON string; cuts what does not fit. */
size_t json_escape(char *to, size_t room, const char *text);

/* ---- frames.c: the host connection ------------------------------------- */

enum frame_kind {
	/* from the host */
	FRAME_HEAD_START = 'H', /* before the plan, and only then: namespaces may be made for one with this network */
	FRAME_PLAN = 'P',
	FRAME_COMMAND = 'C',
	FRAME_INPUT = 'I',   /* empty: end of input */
	FRAME_KILL = 'K',
	FRAME_SIGNAL = 'S',
	FRAME_WINDOW = 'W',  /* the caller's terminal has another size now */
	FRAME_TAKE_TERMINAL = 'T',    /* the tool may have the caller's terminal */
	FRAME_BEGIN = 'B',   /* the call begins: its clock starts, where the plan says that it waits for this */
	/* to the host */
	FRAME_EVENT = 'E',
	FRAME_STDOUT = 'o',
	FRAME_STDERR = 'e',
};

#define FRAME_HEADER 5
#define FRAME_LIMIT (64u << 20)

struct frame {
	enum frame_kind kind;
	uint32_t length;
	char *payload; /* always NUL-terminated behind `length` */
};

bool read_frame(int host, struct frame *into);
bool write_frame(int host, char kind, const void *payload, size_t length);
bool write_fully(int fd, const void *bytes, size_t length);
bool read_fully(int fd, void *bytes, size_t length);

/* ---- plan.c: the boundary, as flat words -------------------------------- */

enum form { FORM_NAMESPACES, FORM_LANDLOCK };

enum access {
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	ACCESS_EXECUTE = 4,
	ACCESS_DEVICE = 8,
	ACCESS_LIST = 16, /* names only */
};

enum step_kind { STEP_BIND, STEP_HIDE, STEP_DIRECTORY, STEP_LINK, STEP_FILE, STEP_COVER, STEP_PROC, STEP_SCRATCH, STEP_TERMINALS };

struct step {
	enum step_kind kind;
	unsigned access;
	const char *path;
	const char *text; /* link target or file content */
};

struct rule {
	unsigned access;
	const char *path;
};

enum trap {
	TRAP_CONNECT = 1,  /* connect and listen are carried out by the keeper */
	TRAP_FORK = 2,     /* processes and threads are counted */
	TRAP_EXEC = 4,     /* refused programs are reported (Landlock refuses them) */
	TRAP_OPEN = 8,     /* refused opens are reported (--observe) */
	TRAP_READ = 2048,   /* the same of opens for reading by a path that starts at the root or the working directory */
	TRAP_CHANGE = 4096, /* refused opens for writing are reported, and refused changes of names, see refused-changes.c */
	TRAP_NAME = 256,   /* the same of removals from folders that the tool has open, as rm -r does by the thousand */
	TRAP_WRITE = 512,  /* terminals, and what is written where Landlock cannot tell apart: by the keeper, see opening.c */
	TRAP_SIGNAL = 128, /* signals are sent by the keeper, for where Landlock does not scope them */
	TRAP_SOCKET = 64,  /* internet sockets lead nowhere, for where listen() cannot be judged */
	TRAP_MEMORY_FILE = 32, /* memory files are made by the keeper, and counted; shared mappings are charged */
	TRAP_WATCH = 1024, /* instances of inotify are counted, where no namespace does, see inotify-instances.c */
	TRAP_METADATA = 16 /* chmod, chown, utime, xattr are carried out by the keeper */
};

/* Instances of inotify that one call may have. */
#define MOST_INOTIFY_INSTANCES 16

struct limits {
	uint64_t memory;    /* bytes, of all processes together */
	uint64_t processes; /* processes and threads, counted as they are made */
	uint64_t user_processes; /* the default, counted only now and then, and by rlimit for all but root */
	uint64_t cpu;       /* milliseconds, of all processes together */
	uint64_t wall;      /* milliseconds */
	uint64_t output;    /* bytes of stdout and stderr together */
	uint64_t files;     /* open descriptors per process */
	uint64_t file_size; /* bytes */
	uint64_t scratch;   /* bytes of private /tmp and /dev/shm */
};

enum reach_kind { REACH_NAME, REACH_BELOW, REACH_BLOCK };

/* One destination and port that the tool may be connected to, by way of the proxy. */
struct reach {
	enum reach_kind kind;
	const char *name;	/* of a name, or what names lie below */
	uint8_t address[16];	/* of a block; IPv4 as a part of IPv6 (::ffff:0:0/96) */
	unsigned bits;
	uint16_t port;
};

/* How the tool's connections reach the proxy, which judges again; see broker.c. */
struct broker_terms {
	uint16_t port;	   /* of the proxy, on the loopback that the cell has; 0 when there is none */
	const char *token; /* by which the proxy knows the call */
	struct reach *reaches;
	size_t reach_count;
};

/* Where one of stdin, stdout and stderr leads. */
enum stream {
	STREAM_DIRECT,  /* to what the launcher was started with */
	STREAM_FRAMES,  /* to the host, in frames */
	STREAM_TERMINAL /* to a new terminal, which the supervisor joins to the caller's */
};

struct plan {
	enum form form;
	struct step *steps;
	size_t step_count;
	struct rule *rules;
	size_t rule_count;
	const char **kept; /* write roots in which the keeper acts for the tool, see kept.c */
	size_t kept_count;
	const char **sealed; /* what it leaves as it is there */
	size_t sealed_count;
	const char **hidden; /* what it does not even read there */
	size_t hidden_count;
	const char **programs; /* what may be executed, when that is limited */
	size_t program_count;
	const char *cwd;
	const char *cgroup;  /* where the call gets a cgroup of its own, or NULL */
	const char *scratch; /* the private temporary directory, as the tool sees it */
	struct limits limits;
	unsigned traps;
	bool network_all;
	bool network_brokered;
	bool network_nested; /* by the keeper of the cell around this one, see outer.c */
	struct broker_terms broker;
	bool exec_limited;
	enum stream streams[3];
	bool terminal;   /* one of the streams is */
	bool foreground; /* the tool has the new terminal's foreground from the start */
	bool begins_later; /* the program waits for its call, and until then no clock runs */
	bool probe; /* stop after the boundary is applied */
};

/* NULL, or what is wrong with the plan. The plan points into `words`. */
const char *parse_plan(char *words, size_t length, struct plan *plan);
void free_plan(struct plan *plan);

struct command {
	const char *program;
	char **argv;
	char **envp;
};

const char *parse_command(char *words, size_t length, struct command *command);

/* ---- namespaces.c ------------------------------------------------------- */

struct cgroup; /* cgroup.h */

pid_t clone_into_namespaces(const struct cgroup *cgroup, bool keep_network);
void map_own_ids(uid_t uid, gid_t gid);
void raise_loopback(void);

/* ---- root.c --------------------------------------------------------------- */

void assemble_root(const struct plan *plan);

/* ---- seals.c: mounts that the kernel drops ------------------------------- */

int open_mount_table(void);
/* When all is mounted. */
void begin_seal_watch(const struct plan *plan, int table);
/* Since this was asked, or polled for, last. */
bool mounts_changed(int table);
/* Whether something that was mounted no longer is; the host is told then. */
bool tell_fallen_seal(const struct plan *plan, int supervisor);

/* ---- confine.c, landlock.c, filter.c ------------------------------------ */

void disable_core_dumps(void);
void drop_privileges(void);
void apply_resource_limits(const struct plan *plan);
void limit_descriptors(const struct plan *plan);
int landlock_abi(void);
/* `terminal`: the cell's own, or -1 */
void apply_landlock(const struct plan *plan, int terminal);
/* From now on our signals reach only what we start, so that kill(-1) ends it all at one stroke (since ABI 6). */
bool enclose_signals(void);
/* Returns the notification descriptor, or -1 when the plan traps nothing. */
int apply_seccomp(const struct plan *plan);

/* ---- keeper.c, notify.c --------------------------------------------------- */

/* Packets on the socket pair between the supervisor and the cell. */
enum packet_kind { PACKET_LISTENER = 'L', PACKET_GO = 'G', PACKET_EXIT = 'X', PACKET_TERMINAL = 'T', PACKET_STOPPED = 'Z', PACKET_SCRATCH = 'S', PACKET_CLOCK = 'P', PACKET_MEMORY_FILE = 'M', PACKET_EVENT = 'V', PACKET_CONNECTION = 'N', PACKET_OUTER = 'O' };

struct packet {
	char kind;
	int value;
	char text[4000];
};

#define PACKET_HEADER offsetof(struct packet, text)

/* False when the other side is gone. */
bool offer_packet(int fd, char kind, int value, const char *text, int descriptor);
/* Ends this process then. */
void send_packet(int fd, char kind, int value, const char *text, int descriptor);
/* Bytes received, 0 at the end, -1 with errno. */
ssize_t receive_packet(int fd, struct packet *packet, int *descriptor, pid_t *sender);

/* A chatty program wakes the supervisor less often with more room. */
#define STREAM_BUFFER (256 << 10)

struct stdio {
	int at[3];
	int terminal; /* -1, or: of the supervisor's the caller's, of the tool's the new one */
};

_Noreturn void keep(const struct plan *plan, int host, int supervisor, struct stdio stdio);
struct broker; /* broker.h */
struct nest; /* nested.h */
void answer_notification(const struct plan *plan, int listener, int supervisor, struct broker *broker, struct nest *nest);

/* ---- reach.c ---------------------------------------------------------------- */

/* An address of IPv4, as one of IPv6. */
struct in_addr;
void write_mapped(const struct in_addr *address, uint8_t into[16]);
/* False when the words are none. */
bool parse_reach(const char *kind, const char *value, const char *port, struct reach *into);
/* By any port when `port` is 0. */
bool reaches_name(const struct broker_terms *terms, const char *name, uint16_t port);
bool reaches_address(const struct broker_terms *terms, const uint8_t address[16], uint16_t port);

/* ---- sockets.c ------------------------------------------------------------- */

/* Whether a process below this one holds the socket that is bound to the file. */
bool is_own_socket(int file);

/* ---- tool.c ---------------------------------------------------------------- */

_Noreturn void become_tool(const struct plan *plan, int host, int supervisor, int keeper, struct stdio stdio);

/* ---- terminal.c: see there, also for the supervisor's half (terminal.h) ---- */

int find_caller_terminal(const struct plan *plan);
/* A new session with a new terminal; the tool's streams that are one lead to it. */
void open_terminal(int supervisor, const struct plan *plan, struct stdio *tool);
void join_terminal(const struct plan *plan, int terminal);

/* ---- copier.c: the caller's files as streams ------------------------------ */

struct copiers {
	pid_t pids[3];
	bool gives_back; /* stdin is a file, whose position is left behind what was read */
};

/* The tool's end of the caller's stdin, stdout or stderr. */
int take_caller_stream(int number, struct copiers *copiers);
bool is_same_file(int one, int other);
void finish_input(const struct copiers *copiers);
void end_copiers(const struct copiers *copiers);
bool is_copier(const struct copiers *copiers, pid_t pid);

/* ---- tree.c: descendants, by /proc ---------------------------------------- */

typedef void visit_process(pid_t pid, void *context);
void each_descendant(pid_t root, visit_process *visit, void *context);
/* Every descriptor of a process, with what it leads to. False with errno where they cannot be listed. */
typedef void visit_descriptor(pid_t pid, const char *descriptor, const char *target, void *context);
bool each_descriptor(pid_t pid, visit_descriptor *visit, void *context);
typedef void visit_thread(const char *folder, pid_t pid, void *context); /* `folder`: of the thread, in /proc */
void each_thread(pid_t pid, visit_thread *visit, void *context);
pid_t own_pid_in_proc(void);
/* Kills until nothing below `root` is left; for where no pid namespace does. */
void kill_descendants(pid_t root, const struct copiers *except);

/* Reads a small /proc file; returns its length, or 0 when the process is gone. */
size_t read_proc(char *into, size_t room, const char *path);
/* The same of a `stat`: what follows the command name, from its closing parenthesis on; or NULL. */
const char *read_stat(char *into, size_t room, const char *path);
uint64_t field_in_kilobytes(const char *text, const char *name);

struct consumption {
	uint64_t tasks;
	uint64_t resident; /* bytes, shared pages counted once per process */
	uint64_t cpu;      /* milliseconds */
};

uint64_t count_descendants(pid_t root);
void measure_descendants(pid_t root, struct consumption *sum);
bool sees_descendants(void);

/* memory.c: exact, and slower than the sum of resident sizes */
uint64_t proportional_memory(pid_t root, uint64_t memory_files);

/* memory-files.c: the supervisor's own openings of the tool's memory files */
struct memory_files {
	int *at;
	size_t count, room;
};

void keep_memory_file(struct memory_files *files, int file);
/* Bytes in those that somebody still has open; the others are let go. */
uint64_t memory_files_in_use(struct memory_files *files);

/* Bytes in files on the file system of `folder` that have no name any more but are still open. */
uint64_t unlinked_bytes(pid_t root, const char *folder);

/* ---- scratch.c ------------------------------------------------------------- */

void make_scratch(const struct plan *plan);
void remove_scratch(const struct plan *plan);
uint64_t scratch_in_use(const struct plan *plan);

/* ---- supervise.c ------------------------------------------------------------ */

int supervise(const struct plan *plan, int host, int channel, int cell, pid_t keeper, const struct cgroup *cgroup, struct stdio stdio, const struct copiers *copiers);

/* ---- main.c, nursery.c ------------------------------------------------------ */

/* `channel`: where Node takes descriptors, or -1 */
int run_cell(int host, int channel);
void close_stdio(struct stdio stdio);
int serve_nursery(char *name);

#endif
