/* The plan: the boundary, as flat words. */
#pragma once

#include "wire/reach.h"

#define CORDON_CELL_VERSION "1"

enum form { FORM_NAMESPACES, FORM_LANDLOCK };

enum access {
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	ACCESS_EXECUTE = 4,
	ACCESS_DEVICE = 8,
	ACCESS_LIST = 16, /* names only */
};

enum step_kind {
	STEP_BIND,
	STEP_HIDE,
	STEP_DIRECTORY,
	STEP_LINK,
	STEP_FILE,
	STEP_COVER,
	STEP_PROC,
	STEP_SCRATCH,
	STEP_TERMINALS
};

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
	TRAP_CONNECT = 1, /* connect and listen are carried out by the keeper */
	TRAP_FORK = 2, /* processes and threads are counted */
	TRAP_EXEC = 4, /* refused programs are reported (Landlock refuses them) */
	TRAP_OPEN = 8, /* refused opens are reported (--observe) */
	TRAP_READ = 2048, /* the same of opens for reading by a path that starts at the root or the working directory */
	TRAP_CHANGE =
		4096, /* refused opens for writing are reported, and refused changes of names, see refused-changes.c */
	TRAP_NAME = 256, /* the same of removals from folders that the tool has open, as rm -r does by the thousand */
	TRAP_WRITE =
		512, /* terminals, and what is written where Landlock cannot tell apart: by the keeper, see opening.c */
	TRAP_SIGNAL = 128, /* signals are sent by the keeper, for where Landlock does not scope them */
	TRAP_SOCKET = 64, /* internet sockets lead nowhere, for where listen() cannot be judged */
	TRAP_MEMORY_FILE = 32, /* memory files are made by the keeper, and counted; shared mappings are charged */
	TRAP_WATCH = 1024, /* instances of inotify are counted, where no namespace does, see inotify-instances.c */
	TRAP_METADATA = 16 /* chmod, chown, utime, xattr are carried out by the keeper */
};

/* Instances of inotify that one call may have. */
#define MOST_INOTIFY_INSTANCES 16

struct limits {
	uint64_t memory; /* bytes, of all processes together */
	uint64_t processes; /* processes and threads, counted as they are made */
	uint64_t user_processes; /* the default, counted only now and then, and by rlimit for all but root */
	uint64_t cpu; /* milliseconds, of all processes together */
	uint64_t wall; /* milliseconds */
	uint64_t output; /* bytes of stdout and stderr together */
	uint64_t files; /* open descriptors per process */
	uint64_t file_size; /* bytes */
	uint64_t scratch; /* bytes of private /tmp and /dev/shm */
};

/* Where one of stdin, stdout and stderr leads. */
enum stream {
	STREAM_DIRECT, /* to what the launcher was started with */
	STREAM_FRAMES, /* to the host, in frames */
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
	const char *cgroup; /* where the call gets a cgroup of its own, or NULL */
	const char *scratch; /* the private temporary directory, as the tool sees it */
	struct limits limits;
	unsigned traps;
	bool network_all;
	bool network_brokered;
	bool network_nested; /* by the keeper of the cell around this one, see join-outer.c */
	struct broker_terms broker;
	bool exec_limited;
	enum stream streams[3];
	bool terminal; /* one of the streams is */
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
