/* What each verdict of the system call list checks, as BPF. Arguments behind pointers cannot be seen here. */
#include "boundary/filter/verdicts.h"
#include "boundary/filter/open-verdicts.h"
#include "boundary/filter/socket-verdicts.h"
#include "boundary/landlock.h"
#include "wire/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* But CLONE_NEWTIME, which clone() has no bit for. */
#define NAMESPACE_FLAGS \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define KEEPER 1 /* in its pid namespace */
#define SET_ID_BITS (S_ISUID | S_ISGID)
/* O_TMPFILE has the bit of O_DIRECTORY, which by itself makes nothing. */
#define CREATING_FLAGS (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

/* `folder`, `flags`: the numbers of these arguments, or -1. */
static void check_open(struct program *program, const struct plan *plan, int folder, int flags, int mode)
{
	/* Where Landlock cannot tell apart, the keeper opens (opening.c). It watches the rest (observe.c). */
	unsigned writing = trap_or(plan, TRAP_OPEN | TRAP_CHANGE | TRAP_WRITE, SECCOMP_RET_ALLOW);

	if (flags >= 0) {
		if (landlock_is_before(plan, 3))
			check_truncation(program, flags);
		load_argument(program, flags);
		unsigned short jump = program->length;
		emit(program, BPF_JMP | BPF_JSET | BPF_K, CREATING_FLAGS, 0, 0);
		if_any_bit_answer(program, O_ACCMODE | O_TRUNC, writing);
		check_reading(program, plan, folder);
		program->at[jump].jt = (__u8)(program->length - jump - 1);
	}
	load_argument(program, mode);
	if_any_bit_answer(program, SET_ID_BITS, SECCOMP_RET_ERRNO | EPERM);
	answer(program, writing);
}

/*
 * A set-id file in a write root would be a way up for whoever runs it on the host. A set-group-id folder only passes
 * its group on to new files: the keeper looks whether it is one.
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
	static const unsigned sharing_blocks[] = { FICLONE, FICLONERANGE, FIDEDUPERANGE };
	static const unsigned refused[] = {
		TIOCSTI, /* types into the terminal (CVE-2017-5226) */
		TIOCLINUX, /* pastes into a console (CVE-2023-1523) */
		TIOCCONS,
		TIOCSETD,
		/* Change a file through a descriptor that only reads; Landlock does not see them. */
		FS_IOC_SETFLAGS,
		FS_IOC32_SETFLAGS,
		FS_IOC_FSSETXATTR,
		FS_IOC_SETVERSION,
		FS_IOC_ENABLE_VERITY,
		FS_IOC_SET_ENCRYPTION_POLICY,
	};

	load_argument(program, 1);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if_equal_answer(program, refused[i], SECCOMP_RET_ERRNO | EPERM);
	/* btrfs: snapshots, subvolumes, defragmentation, mostly through a descriptor that only reads. */
	for (size_t i = 0; i < sizeof sharing_blocks / sizeof *sharing_blocks; i++)
		if_equal_answer(program, sharing_blocks[i], SECCOMP_RET_ALLOW);
	emit(program, BPF_ALU | BPF_AND | BPF_K, _IOC_TYPEMASK << _IOC_TYPESHIFT, 0, 0);
	if_equal_answer(program, BTRFS_IOCTL_MAGIC << _IOC_TYPESHIFT, SECCOMP_RET_ERRNO | ENOTTY);
	load_argument(program, 1);
	if (plan->traps & TRAP_WRITE)
		if_equal_answer(program, TIOCGPTPEER, SECCOMP_RET_USER_NOTIF);
	if (landlock_is_before(plan, 6)) {
		/* Whom the kernel signals when there is something to read: anybody, without these being refused. */
		if_equal_answer(program, FIOSETOWN, SECCOMP_RET_ERRNO | EPERM);
		if_equal_answer(program, SIOCSPGRP, SECCOMP_RET_ERRNO | EPERM);
	}
	answer(program, SECCOMP_RET_ALLOW);
}

static void check_prctl(struct program *program)
{
	/* clang-format off */
	static const unsigned options[] = {
		PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_GET_KEEPCAPS,
		PR_SET_KEEPCAPS, PR_SET_NAME, PR_GET_NAME, PR_GET_TIMING, PR_SET_TIMING, PR_GET_SECCOMP,
		PR_SET_SECCOMP, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_GET_SECUREBITS, PR_SET_SECUREBITS,
		PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_MCE_KILL_GET, PR_SET_CHILD_SUBREAPER,
		PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS,
		PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_CAP_AMBIENT, PR_SVE_SET_VL, PR_SVE_GET_VL,
		PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL, PR_PAC_RESET_KEYS, PR_SET_TAGGED_ADDR_CTRL,
		PR_GET_TAGGED_ADDR_CTRL, PR_PAC_SET_ENABLED_KEYS, PR_PAC_GET_ENABLED_KEYS, PR_SME_SET_VL,
		PR_SME_GET_VL, PR_SET_MDWE, PR_GET_MDWE,
	};
	/* clang-format on */

	load_argument(program, 0);
	only_values(program, options, sizeof options / sizeof *options, EINVAL);
}

static void check_personality(struct program *program)
{
	static const unsigned values[] = { 0, ~0u /* what it is now */, ADDR_NO_RANDOMIZE };

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
	if_equal_answer(program, KEEPER, SECCOMP_RET_ERRNO | EPERM);
	answer(program, SECCOMP_RET_ALLOW);
}

/*
 * Setting RLIMIT_CORE does nothing, and says that it worked: with another value than ours the kernel would hand a crash
 * to the host (see disable_core_dumps). `limits` is where the new ones are, which may be nowhere (prlimit64 only reads
 * then).
 */
static void check_core_limit(struct program *program, int resource, int limits)
{
	unsigned low = ARGUMENT(limits);

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
		if_equal_answer(program, F_SETOWN, SECCOMP_RET_ERRNO | EPERM);
		if_equal_answer(program, F_SETOWN_EX, SECCOMP_RET_ERRNO | EPERM);
	}
	/* A lease on a file that may only be read makes others wait for it when they open it. */
	if_equal_answer(program, F_SETLEASE, SECCOMP_RET_ERRNO | EPERM);
	if_equal_answer(program, F_NOTIFY, SECCOMP_RET_ERRNO | EPERM);
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
		answer(program,
		       trap_or(plan, TRAP_METADATA, plan->form == FORM_NAMESPACES ? SECCOMP_RET_ALLOW : refused));
		break;
	/* Landlock has no right for them, and ENOTSUP is what many file systems say. By descriptor they are of
	 * something opened. */
	case ATTRIBUTES:
		answer(program, plan->form == FORM_NAMESPACES ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EOPNOTSUPP);
		break;
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
	case SIGNAL:
		answer(program, trap_or(plan, TRAP_SIGNAL, landlock_is_before(plan, 6) ? refused : SECCOMP_RET_ALLOW));
		break;
	case CHANGE: answer(program, trap_or(plan, TRAP_CHANGE, name_action(plan))); break;
	case REMOVE_AT: check_removal(program, plan); break;
	case TRUNCATE:
		answer(program, landlock_is_before(plan, 3) || plan->kept_count
					? trap_or(plan, TRAP_METADATA, refused)
					: trap_or(plan, TRAP_CHANGE, SECCOMP_RET_ALLOW));
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
	case PRIORITY: check_priority(program, plan, PRIO_USER); break;
	case IO_PRIORITY: check_priority(program, plan, IOPRIO_WHO_USER); break;
	case DESCRIPTOR: check_descriptor(program, plan); break;
	case SOCKET: check_socket(program, plan); break;
	case SOCKET_PAIR: check_socket_pair(program, plan); break;
	case CONNECT:
		answer(program, trap_or(plan, TRAP_CONNECT,
					connects_unjudged(plan) ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EACCES));
		break;
	case BIND: answer(program, bind_action(plan)); break;
	case LISTEN: answer(program, listen_action(plan)); break;
	case OPTION: check_option(program, plan); break;
	case SEND_THIRD: check_send(program, 2); break;
	case SEND_FOURTH: check_send(program, 3); break;
	}
}
