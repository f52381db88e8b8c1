/* What each verdict of the system call list checks, as BPF. Arguments behind pointers cannot be seen here. */
#include "boundary/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

void emit(struct program *program, unsigned short code, unsigned k, unsigned char yes, unsigned char no)
{
	if (program->length >= PROGRAM_ROOM) {
		errno = E2BIG;
		die("seccomp", "the program is too long");
	}
	program->at[program->length++] = (struct sock_filter){ code, yes, no, k };
}

void answer(struct program *program, unsigned action)
{
	emit(program, BPF_RET | BPF_K, action, 0, 0);
}

void answer_error(struct program *program, int error)
{
	answer(program, SECCOMP_RET_ERRNO | error);
}

/* Arguments that matter here are 32 bits wide in the kernel; the upper half is ignored there too. */
void load_argument(struct program *program, int index)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * index, 0, 0);
}

void if_equal_answer(struct program *program, unsigned value, unsigned action)
{
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(program, action);
}

void if_any_bit_answer(struct program *program, unsigned bits, unsigned action)
{
	emit(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	answer(program, action);
}

void only_values(struct program *program, const unsigned *values, size_t count, int otherwise)
{
	for (size_t i = 0; i < count; i++)
		if_equal_answer(program, values[i], SECCOMP_RET_ALLOW);
	answer_error(program, otherwise);
}

#define NAMESPACE_FLAGS 0x7e020000u /* CLONE_NEW* but NEWTIME, which clone() has no bit for */
#define SET_ID_BITS (S_ISUID | S_ISGID)
#define CREATING_FLAGS (0100 | 020000000) /* O_CREAT, __O_TMPFILE */

unsigned trap_or(const struct plan *plan, unsigned trap, unsigned otherwise)
{
	return plan->traps & trap ? SECCOMP_RET_USER_NOTIF : otherwise;
}

/* Whether Landlock alone holds the cell and does not hold yet what it does since `abi`. */
bool landlock_is_before(const struct plan *plan, int abi)
{
	return plan->form == FORM_LANDLOCK && landlock_abi() < abi;
}

/* `folder`, `flags`: the numbers of these arguments, or -1. */
static void check_open(struct program *program, const struct plan *plan, int folder, int flags, int mode)
{
	/* The keeper opens for the tool where Landlock cannot tell apart (opening.c), and watches the rest (observe.c). */
	unsigned writing = trap_or(plan, TRAP_OPEN | TRAP_CHANGE | TRAP_WRITE, SECCOMP_RET_ALLOW);

	if (flags >= 0) {
		if (landlock_is_before(plan, 3))
			check_truncation(program, flags);
		load_argument(program, flags);
		unsigned short jump = program->length;
		emit(program, BPF_JMP | BPF_JSET | BPF_K, CREATING_FLAGS, 0, 0);
		if_any_bit_answer(program, O_ACCMODE | O_TRUNC, writing);
		check_reading(program, plan, folder);
		program->at[jump].jt = program->length - jump - 1;
	}
	load_argument(program, mode);
	if_any_bit_answer(program, SET_ID_BITS, SECCOMP_RET_ERRNO | EPERM);
	answer(program, writing);
}

/*
 * A set-id file in a write root would be a way up for whoever runs it on the host. A set-group-id folder only passes its
 * group on to new files: the keeper looks whether it is one.
 */
static void check_mode(struct program *program, const struct plan *plan, int mode)
{
	load_argument(program, mode);
	if_any_bit_answer(program, S_ISUID, SECCOMP_RET_ERRNO | EPERM);
	if_any_bit_answer(program, S_ISGID, plan->traps ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM);
	answer(program, trap_or(plan, TRAP_METADATA,
				plan->form == FORM_NAMESPACES ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM));
}

/* Names that are made, renamed or removed: by the keeper in certain write roots, see making.c. */
static unsigned name_action(const struct plan *plan)
{
	return plan->kept_count ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
}

static void check_node(struct program *program, const struct plan *plan, int mode)
{
	static const unsigned kinds[] = { 0, S_IFREG, S_IFIFO, S_IFSOCK };

	load_argument(program, mode);
	if_any_bit_answer(program, SET_ID_BITS, SECCOMP_RET_ERRNO | EPERM);
	emit(program, BPF_ALU | BPF_AND | BPF_K, S_IFMT, 0, 0);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if_equal_answer(program, kinds[i], trap_or(plan, TRAP_CHANGE, name_action(plan)));
	answer_error(program, EPERM);
}

static void check_ioctl(struct program *program, const struct plan *plan)
{
	static const unsigned sharing_blocks[] = { 0x40049409 /* FICLONE */, 0x4020940d /* FICLONERANGE */, 0xc0189436 /* FIDEDUPERANGE */ };
	static const unsigned refused[] = {
		0x5412, /* TIOCSTI: types into the terminal (CVE-2017-5226) */
		0x541c, /* TIOCLINUX: pastes into a console (CVE-2023-1523) */
		0x541d, /* TIOCCONS */
		0x5423, /* TIOCSETD */
		/* Change a file through a descriptor that only reads; Landlock does not see them. */
		0x40086602, /* FS_IOC_SETFLAGS */
		0x40046602, /* FS_IOC32_SETFLAGS */
		0x401c5820, /* FS_IOC_FSSETXATTR */
		0x40087602, /* FS_IOC_SETVERSION */
		0x40806685, /* FS_IOC_ENABLE_VERITY */
		0x800c6613, /* FS_IOC_SET_ENCRYPTION_POLICY */
	};

	load_argument(program, 1);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if_equal_answer(program, refused[i], SECCOMP_RET_ERRNO | EPERM);
	/* btrfs: snapshots, subvolumes, defragmentation, mostly through a descriptor that only reads. */
	for (size_t i = 0; i < sizeof sharing_blocks / sizeof *sharing_blocks; i++)
		if_equal_answer(program, sharing_blocks[i], SECCOMP_RET_ALLOW);
	emit(program, BPF_ALU | BPF_AND | BPF_K, 0xff00, 0, 0);
	if_equal_answer(program, 0x9400, SECCOMP_RET_ERRNO | ENOTTY);
	load_argument(program, 1);
	if (plan->traps & TRAP_WRITE)
		if_equal_answer(program, 0x5441 /* TIOCGPTPEER */, SECCOMP_RET_USER_NOTIF);
	if (landlock_is_before(plan, 6)) {
		/* Whom the kernel signals when there is something to read: anybody, without these being refused. */
		if_equal_answer(program, 0x8901 /* FIOSETOWN */, SECCOMP_RET_ERRNO | EPERM);
		if_equal_answer(program, 0x8902 /* SIOCSPGRP */, SECCOMP_RET_ERRNO | EPERM);
	}
	answer(program, SECCOMP_RET_ALLOW);
}

static void check_prctl(struct program *program)
{
	static const unsigned options[] = {
		1, 2, 3, 4, 7, 8, 15, 16, /* PDEATHSIG, DUMPABLE, KEEPCAPS, NAME */
		13, 14, 21, 22, 23, 24, 27, 28, /* TIMING, SECCOMP, CAPBSET, SECUREBITS */
		29, 30, 34, 36, 37, 38, 39, 40, /* TIMERSLACK, MCE_KILL_GET, SUBREAPER, NO_NEW_PRIVS, TID_ADDRESS */
		41, 42, 47, 50, 51, 52, 53, 54, /* THP, CAP_AMBIENT, SVE, SPECULATION, PAC */
		55, 56, 60, 61, 63, 64, 65, 66, /* TAGGED_ADDR, PAC_ENABLED, SME, MDWE */
	};

	load_argument(program, 0);
	only_values(program, options, sizeof options / sizeof *options, EINVAL);
}

static void check_personality(struct program *program)
{
	static const unsigned values[] = { 0, 0xffffffff, 0x0040000 /* ADDR_NO_RANDOMIZE */ };

	load_argument(program, 0);
	only_values(program, values, sizeof values / sizeof *values, EPERM);
}

static void check_clone(struct program *program, const struct plan *plan)
{
	load_argument(program, 0);
	if_any_bit_answer(program, NAMESPACE_FLAGS, SECCOMP_RET_ERRNO | EPERM);
	answer(program, trap_or(plan, TRAP_FORK, SECCOMP_RET_ALLOW));
}

/*
 * Limits and priorities of other processes. In a pid namespace the only one not
 * the tool's own is the keeper, number 1. Without one, others have numbers here
 * too, so that 0, oneself, is the only one to act on.
 */
static void check_own_process(struct program *program, const struct plan *plan, int argument)
{
	load_argument(program, argument);
	if (plan->form == FORM_LANDLOCK)
		only_values(program, (unsigned[]){ 0 }, 1, EPERM);
	if_equal_answer(program, 1, SECCOMP_RET_ERRNO | EPERM);
	answer(program, SECCOMP_RET_ALLOW);
}

/*
 * Setting RLIMIT_CORE does nothing, and says that it worked: with another value than ours the kernel would hand a crash
 * to the host (see disable_core_dumps). `limits` is where the new ones are, which may be nowhere (prlimit64 only reads then).
 */
static void check_core_limit(struct program *program, int resource, int limits)
{
	unsigned low = offsetof(struct seccomp_data, args) + 8 * limits;

	load_argument(program, resource);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, RLIMIT_CORE, 0, 5);
	emit(program, BPF_LD | BPF_W | BPF_ABS, low, 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
	emit(program, BPF_LD | BPF_W | BPF_ABS, low + 4, 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	answer_error(program, 0);
}

/* `all_of_user`: the value that would mean every process of the user, also outside. */
static void check_priority(struct program *program, const struct plan *plan, unsigned all_of_user)
{
	load_argument(program, 0);
	if_equal_answer(program, all_of_user, SECCOMP_RET_ERRNO | EPERM);
	check_own_process(program, plan, 1);
}

static void check_descriptor(struct program *program, const struct plan *plan)
{
	load_argument(program, 1);
	if (landlock_is_before(plan, 6)) {
		if_equal_answer(program, 8 /* F_SETOWN */, SECCOMP_RET_ERRNO | EPERM);
		if_equal_answer(program, 15 /* F_SETOWN_EX */, SECCOMP_RET_ERRNO | EPERM);
	}
	/* A lease on a file that may only be read makes others wait for it when they open it. */
	if_equal_answer(program, 1024 /* F_SETLEASE */, SECCOMP_RET_ERRNO | EPERM);
	if_equal_answer(program, 1026 /* F_NOTIFY */, SECCOMP_RET_ERRNO | EPERM);
	answer(program, SECCOMP_RET_ALLOW);
}

static unsigned memory_file_action(const struct plan *plan)
{
	/* Landlock does not see files without a path, so they could be executed. */
	if (plan->exec_limited)
		return SECCOMP_RET_ERRNO | EPERM;
	/* Nothing else counts what lies in one. */
	return trap_or(plan, TRAP_MEMORY_FILE, plan->limits.memory ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
}

/* Shared mappings under a memory limit: see shared-mappings.c. */
static void check_mapping(struct program *program, const struct plan *plan)
{
	if (plan->limits.memory) {
		load_argument(program, 3);
		emit(program, BPF_ALU | BPF_AND | BPF_K, MAP_TYPE, 0, 0);
		if_equal_answer(program, MAP_PRIVATE, SECCOMP_RET_ALLOW);
		load_argument(program, 3);
		if (plan->traps & TRAP_MEMORY_FILE)
			answer(program, SECCOMP_RET_USER_NOTIF);
		if_any_bit_answer(program, MAP_ANONYMOUS, SECCOMP_RET_ERRNO | EPERM);
	}
	answer(program, SECCOMP_RET_ALLOW);
}

void emit_verdict(struct program *program, const struct plan *plan, enum verdict verdict)
{
	unsigned refused = SECCOMP_RET_ERRNO | EPERM;

	switch (verdict) {
	case NOT_THERE: answer_error(program, ENOSYS); break;
	case ALLOW: answer(program, SECCOMP_RET_ALLOW); break;
	case REFUSE: answer(program, refused); break;
	case OPEN: check_open(program, plan, -1, 1, 2); break;
	case OPEN_AT: check_open(program, plan, 0, 2, 3); break;
	case CREATE: check_open(program, plan, -1, -1, 1); break;
	case NODE: check_node(program, plan, 1); break;
	case NODE_AT: check_node(program, plan, 2); break;
	case MODE_OF_FD: check_mode(program, plan, 1); break;
	case MODE_AT: check_mode(program, plan, 2); break;
	case METADATA:
		answer(program, trap_or(plan, TRAP_METADATA, plan->form == FORM_NAMESPACES ? SECCOMP_RET_ALLOW : refused));
		break;
	/* Landlock has no right for them, and ENOTSUP is what many file systems say. By descriptor they are of something opened. */
	case ATTRIBUTES: answer(program, plan->form == FORM_NAMESPACES ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EOPNOTSUPP); break;
	case IOCTL: check_ioctl(program, plan); break;
	case PRCTL: check_prctl(program); break;
	case PERSONALITY: check_personality(program); break;
	case ANONYMOUS_FILE: answer(program, memory_file_action(plan)); break;
	case MAPPING: check_mapping(program, plan); break;
	case EXECUTE_AT: answer(program, plan->exec_limited ? refused : SECCOMP_RET_ALLOW); break;
	case EXECUTE: answer(program, trap_or(plan, TRAP_EXEC, SECCOMP_RET_ALLOW)); break;
	case INOTIFY: answer(program, trap_or(plan, TRAP_WATCH, SECCOMP_RET_ALLOW)); break;
	case CLONE: check_clone(program, plan); break;
	case FORK: answer(program, trap_or(plan, TRAP_FORK, SECCOMP_RET_ALLOW)); break;
	/* Landlock scopes signals from ABI 6 on; a pid namespace always does. */
	case SIGNAL: answer(program, trap_or(plan, TRAP_SIGNAL, landlock_is_before(plan, 6) ? refused : SECCOMP_RET_ALLOW)); break;
	case CHANGE: answer(program, trap_or(plan, TRAP_CHANGE, name_action(plan))); break;
	case REMOVE_AT: check_removal(program, plan); break;
	case TRUNCATE:
		answer(program, landlock_is_before(plan, 3) || plan->kept_count ? trap_or(plan, TRAP_METADATA, refused) : trap_or(plan, TRAP_CHANGE, SECCOMP_RET_ALLOW));
		break;
	case CORE_LIMIT:
		check_core_limit(program, 0, 1);
		answer(program, SECCOMP_RET_ALLOW);
		break;
	case OWN_LIMIT:
		check_core_limit(program, 1, 2);
		check_own_process(program, plan, 0);
		break;
	case OWN_PROCESS: check_own_process(program, plan, 0); break;
	case PRIORITY: check_priority(program, plan, 2 /* PRIO_USER */); break;
	case IO_PRIORITY: check_priority(program, plan, 3 /* IOPRIO_WHO_USER */); break;
	case DESCRIPTOR: check_descriptor(program, plan); break;
	case SOCKET: check_socket(program, plan); break;
	case SOCKET_PAIR: check_socket_pair(program, plan); break;
	case CONNECT:
		answer(program, trap_or(plan, TRAP_CONNECT, connects_unjudged(plan) ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EACCES));
		break;
	case BIND: answer(program, bind_action(plan)); break;
	case LISTEN: answer(program, listen_action(plan)); break;
	case OPTION: check_option(program, plan); break;
	case SEND_THIRD: check_send(program, 2); break;
	case SEND_FOURTH: check_send(program, 3); break;
	case VERDICT_COUNT: abort();
	}
}
