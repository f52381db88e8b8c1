/* Shared by filter.c (the search for a verdict, installation) and verdicts.c, socket-verdicts.c (what each verdict checks). */
#ifndef CORDON_FILTER_H
#define CORDON_FILTER_H

#include "wire/cell.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

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
	VERDICT_COUNT
};

#define PROGRAM_ROOM 2048

struct program {
	struct sock_filter at[PROGRAM_ROOM];
	unsigned short length;
};

void emit(struct program *program, unsigned short code, unsigned k, unsigned char yes, unsigned char no);
void answer(struct program *program, unsigned action);
void answer_error(struct program *program, int error);
void if_any_bit_answer(struct program *program, unsigned bits, unsigned action);
void if_equal_answer(struct program *program, unsigned value, unsigned action);
void only_values(struct program *program, const unsigned *values, size_t count, int otherwise);
void load_argument(struct program *program, int index);
unsigned trap_or(const struct plan *plan, unsigned trap, unsigned otherwise);
bool landlock_is_before(const struct plan *plan, int abi);
void emit_verdict(struct program *program, const struct plan *plan, enum verdict verdict);

/* socket-verdicts.c */
bool connects_unjudged(const struct plan *plan);
void check_socket(struct program *program, const struct plan *plan);
void check_socket_pair(struct program *program, const struct plan *plan);
void check_send(struct program *program, int flags);
void check_option(struct program *program, const struct plan *plan);
unsigned listen_action(const struct plan *plan);
unsigned bind_action(const struct plan *plan);

/* open-verdicts.c */
void check_truncation(struct program *program, int flags);
/* `folder`: the number of that argument, or -1 */
void check_reading(struct program *program, const struct plan *plan, int folder);
void check_removal(struct program *program, const struct plan *plan);

#endif
