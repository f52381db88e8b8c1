#pragma once

#include "boundary/filter/program.h"

/* clang-format off */
enum verdict {
	NOT_THERE, /* ENOSYS */
	ALLOW,
	REFUSE, /* EPERM */
	OPEN, OPEN_AT, CREATE, NODE, NODE_AT, MODE_OF_FD, MODE_AT, /* no set-id files */
	CHANGE, /* of a name */
	REMOVE_AT, /* one, by its folder */
	TRUNCATE, /* which Landlock sees since ABI 3 */
	METADATA, /* of ungranted files, where no mount namespace hides them */
	ATTRIBUTES, /* extended ones, by name: likewise */
	IOCTL, DESCRIPTOR, PRCTL, PERSONALITY, ANONYMOUS_FILE, MAPPING,
	INOTIFY, /* an instance of inotify */
	CLONE, FORK, EXECUTE, EXECUTE_AT, SIGNAL, OWN_PROCESS, PRIORITY, IO_PRIORITY,
	OWN_LIMIT, CORE_LIMIT, /* no crash reaches the host's core handler */
	SOCKET, SOCKET_PAIR, CONNECT, BIND, LISTEN, OPTION, SEND_THIRD, SEND_FOURTH,
};
/* clang-format on */

void emit_verdict(struct program *program, const struct plan *plan, enum verdict verdict);
