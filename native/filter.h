/* Shared by filter.c (the search for a verdict, installation) and verdicts.c (what each verdict checks). */
#ifndef CORDON_FILTER_H
#define CORDON_FILTER_H

#include "cell.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

enum verdict {
	NOT_THERE, /* ENOSYS */
	ALLOW,
	REFUSE, /* EPERM */
	OPEN, OPEN_AT, CREATE, NODE, NODE_AT, MODE_OF_FD, MODE_AT, /* no set-id files */
	REMOVE, /* or replace a name */
	TRUNCATE, /* which Landlock sees since ABI 3 */
	METADATA, /* of ungranted files, where no mount namespace hides them */
	ATTRIBUTES, /* extended ones, by name: likewise */
	IOCTL, DESCRIPTOR, PRCTL, PERSONALITY, ANONYMOUS_FILE, MAPPING,
	CLONE, FORK, EXECUTE, EXECUTE_AT, SIGNAL, OWN_PROCESS, PRIORITY, IO_PRIORITY,
	SOCKET, SOCKET_PAIR, CONNECT, LISTEN, OPTION, SEND_THIRD, SEND_FOURTH,
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
void emit_verdict(struct program *program, const struct plan *plan, enum verdict verdict);

#endif
