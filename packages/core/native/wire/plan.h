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

struct path_list {
	const char **at;
	size_t count;
};

enum trap {
	TRAP_CONNECT = 1, /* the keeper carries out connect and listen */
	TRAP_FORK = 2, /* and counts processes and threads */
	TRAP_EXEC = 4, /* and reports refused programs (Landlock refuses them) */
	TRAP_OPEN = 8, /* and reports refused opens (--observe) */
	TRAP_METADATA = 16, /* and carries out chmod, chown, utime, xattr */
	TRAP_MEMORY_FILE = 32, /* and makes memory files; shared mappings are charged */
	TRAP_SOCKET = 64, /* internet sockets lead nowhere, where listen() cannot be judged */
	TRAP_SIGNAL = 128, /* the keeper sends signals, where Landlock does not scope them */
	TRAP_NAME = 256, /* as TRAP_CHANGE, of removals from open folders: rm -r makes thousands */
	TRAP_WRITE = 512, /* the keeper opens terminals, and files where Landlock cannot tell apart (opening.c) */
	TRAP_WATCH = 1024, /* and counts instances of inotify, where no namespace does */
	TRAP_READ = 2048, /* as TRAP_OPEN, of reading by a path from the root or the working directory */
	TRAP_CHANGE = 4096, /* and reports refused writing and changes of names (refused-changes.c) */
};

/* Instances of inotify that one call may have. */
#define MOST_INOTIFY_INSTANCES 16

struct limits {
	uint64_t memory; /* bytes, of all processes together */
	uint64_t processes; /* processes and threads, counted as they are made */
	uint64_t user_processes; /* the default: counted now and then, and by rlimit for all but root */
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
	bool without_landlock; /* of the namespaces form: mounts alone guard the files */
	struct step *steps;
	size_t step_count;
	struct rule *rules;
	size_t rule_count;
	struct path_list kept; /* write roots in which the keeper acts for the tool, see kept.c */
	struct path_list sealed; /* in these, the keeper changes nothing here */
	struct path_list hidden; /* and does not even read here */
	struct path_list programs; /* all that may be executed, with `exec_limited` */
	const char *cwd;
	const char *cgroup; /* where the call gets a cgroup of its own, or NULL */
	const char *scratch; /* the private temporary directory, as the tool sees it */
	struct limits limits;
	unsigned traps;
	bool network_all;
	bool network_brokered;
	bool network_nested; /* by the keeper of the cell around this one, see tool.c */
	bool network_proxied; /* nobody answers connect(): the keeper listens at the port of the proxy */
	struct broker_terms broker;
	bool exec_limited;
	enum stream streams[3];
	bool terminal; /* one of the streams is */
	bool foreground; /* the tool has the new terminal's foreground from the start */
	bool begins_later; /* the program waits for its call, and until then no clock runs */
	bool delivers_at_once; /* somebody waits for each line of its output */
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
