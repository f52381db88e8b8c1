/* What each verdict of syscalls.h checks, as BPF. A filter cannot see what lies behind a pointer. */
#include "boundary/filter/verdicts.h"
#include "boundary/filter/socket-verdicts.h"
#include "boundary/landlock.h"
#include "wire/kernel.h"

#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/ioprio.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>

/* But CLONE_NEWTIME, which clone() has no bit for. */
#define NAMESPACE_FLAGS \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define KEEPER 1 /* in its pid namespace */
#define SET_ID_BITS (S_ISUID | S_ISGID)
/* O_TMPFILE has the bit of O_DIRECTORY, which by itself makes nothing. */
#define CREATING_FLAGS (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

/* Opening for reading with O_TRUNC empties a file (as does the mode that is neither reading nor writing). */
static void check_truncation(struct program *program, int flags)
{
	load_argument(program, flags);
	keep_bits(program, O_TRUNC | O_ACCMODE);
	if_equal_answer(program, O_TRUNC | O_RDONLY, FAIL(EPERM));
	if_equal_answer(program, O_TRUNC | O_ACCMODE, FAIL(EPERM));
}

/* Many programs that open thousands of files (find, grep -r) do so from folders that they have open: those are let
 * through. */
static void check_reading(struct program *program, const struct plan *plan, int folder)
{
	/* What is hidden in a write root, only the keeper tells apart (kept.c). */
	if (plan->traps & TRAP_WRITE && plan->hidden.count)
		answer(program, TRAP);
	else if (plan->traps & TRAP_READ && folder >= 0) {
		load_argument(program, folder);
		if_equal_answer(program, (unsigned)AT_FDCWD, TRAP);
	} else if (plan->traps & TRAP_READ) {
		answer(program, TRAP);
	}
	answer(program, trap_or(plan, TRAP_OPEN, PASS));
}

/* `folder`, `flags`: the numbers of these arguments, or -1. */
static void check_open(struct program *program, const struct plan *plan, int folder, int flags, int mode)
{
	/* Where Landlock cannot tell apart, the keeper opens (opening.c). It watches the rest (observe.c). */
	unsigned writing = trap_or(plan, TRAP_OPEN | TRAP_CHANGE | TRAP_WRITE, PASS);

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
	if_any_bit_answer(program, SET_ID_BITS, FAIL(EPERM));
	answer(program, writing);
}

/*
 * A set-id file in a write root would be a way up for whoever runs it on the host. A set-group-id folder only passes
 * its group on to new files: the keeper looks whether it is one.
 */
static void check_mode(struct program *program, const struct plan *plan, int mode)
{
	load_argument(program, mode);
	if_any_bit_answer(program, S_ISUID, FAIL(EPERM));
	if_any_bit_answer(program, S_ISGID, plan->traps ? TRAP : FAIL(EPERM));
	answer(program, trap_or(plan, TRAP_METADATA, plan->form == FORM_NAMESPACES ? PASS : FAIL(EPERM)));
}

/* Names that are made, renamed or removed: by the keeper in certain write roots, see making.c. */
static unsigned name_action(const struct plan *plan)
{
	return plan->kept.count ? TRAP : PASS;
}

static void check_node(struct program *program, const struct plan *plan, int mode)
{
	static const unsigned kinds[] = { 0, S_IFREG, S_IFIFO, S_IFSOCK };

	load_argument(program, mode);
	if_any_bit_answer(program, SET_ID_BITS, FAIL(EPERM));
	keep_bits(program, S_IFMT);
	answer_values(program, kinds, COUNT_OF(kinds), trap_or(plan, TRAP_CHANGE, name_action(plan)));
	answer(program, FAIL(EPERM));
}

static void check_removal(struct program *program, const struct plan *plan)
{
	load_argument(program, 0);
	if_equal_answer(program, (unsigned)AT_FDCWD, trap_or(plan, TRAP_CHANGE | TRAP_NAME, name_action(plan)));
	answer(program, trap_or(plan, TRAP_NAME, name_action(plan)));
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
	answer_values(program, refused, COUNT_OF(refused), FAIL(EPERM));
	/* btrfs: snapshots, subvolumes, defragmentation, mostly through a descriptor that only reads. */
	answer_values(program, sharing_blocks, COUNT_OF(sharing_blocks), PASS);
	keep_bits(program, _IOC_TYPEMASK << _IOC_TYPESHIFT);
	if_equal_answer(program, BTRFS_IOCTL_MAGIC << _IOC_TYPESHIFT, FAIL(ENOTTY));
	load_argument(program, 1);
	if (plan->traps & TRAP_WRITE)
		if_equal_answer(program, TIOCGPTPEER, TRAP);
	if (landlock_is_before(plan, 6)) {
		/* Whom the kernel signals when there is something to read: it could be anybody. */
		if_equal_answer(program, FIOSETOWN, FAIL(EPERM));
		if_equal_answer(program, SIOCSPGRP, FAIL(EPERM));
	}
	answer(program, PASS);
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
	only_values(program, options, COUNT_OF(options), EINVAL);
}

static void check_personality(struct program *program)
{
	static const unsigned values[] = { 0, ~0u /* what it is now */, ADDR_NO_RANDOMIZE };

	load_argument(program, 0);
	only_values(program, values, COUNT_OF(values), EPERM);
}

static void check_clone(struct program *program, const struct plan *plan)
{
	load_argument(program, 0);
	if_any_bit_answer(program, NAMESPACE_FLAGS, FAIL(EPERM));
	answer(program, trap_or(plan, TRAP_FORK, PASS));
}

/*
 * Limits and priorities of other processes. In a pid namespace only the keeper, number 1, is not the tool's own.
 * Without one, others have numbers here too: then a process acts on itself alone, as 0.
 */
static void check_own_process(struct program *program, const struct plan *plan, int argument)
{
	load_argument(program, argument);
	if (plan->form == FORM_LANDLOCK)
		only_values(program, (unsigned[]){ 0 }, 1, EPERM);
	if_equal_answer(program, KEEPER, FAIL(EPERM));
	answer(program, PASS);
}

/*
 * Setting RLIMIT_CORE does nothing, and says that it worked: with another value than ours the kernel would hand a crash
 * to the host (see disable_core_dumps). `limits`: the new ones; NULL where prlimit64 only reads.
 */
static void check_core_limit(struct program *program, int resource, int limits)
{
	unsigned low = ARGUMENT(limits);

	load_argument(program, resource);
	branch(program, RLIMIT_CORE, 0, 5);
	load(program, low);
	branch(program, 0, 0, 2);
	load(program, low + 4);
	branch(program, 0, 1, 0);
	answer(program, FAIL(0));
}

/* `all_of_user`: the value that would mean every process of the user, also outside. */
static void check_priority(struct program *program, const struct plan *plan, unsigned all_of_user)
{
	load_argument(program, 0);
	if_equal_answer(program, all_of_user, FAIL(EPERM));
	check_own_process(program, plan, 1);
}

static void check_descriptor(struct program *program, const struct plan *plan)
{
	load_argument(program, 1);
	if (landlock_is_before(plan, 6)) {
		if_equal_answer(program, F_SETOWN, FAIL(EPERM));
		if_equal_answer(program, F_SETOWN_EX, FAIL(EPERM));
	}
	/* A lease on a file that may only be read makes others wait for it when they open it. */
	if_equal_answer(program, F_SETLEASE, FAIL(EPERM));
	if_equal_answer(program, F_NOTIFY, FAIL(EPERM));
	answer(program, PASS);
}

static unsigned memory_file_action(const struct plan *plan)
{
	/* Landlock does not see files without a path, so they could be executed. */
	if (plan->exec_limited)
		return FAIL(EPERM);
	/* Nothing else counts what lies in one. */
	return trap_or(plan, TRAP_MEMORY_FILE, plan->limits.memory ? FAIL(EPERM) : PASS);
}

/* Shared mappings under a memory limit: see keeper/limits/memory.c. */
static void check_mapping(struct program *program, const struct plan *plan)
{
	if (plan->limits.memory) {
		load_argument(program, 3);
		keep_bits(program, MAP_TYPE);
		if_equal_answer(program, MAP_PRIVATE, PASS);
		load_argument(program, 3);
		if (plan->traps & TRAP_MEMORY_FILE)
			answer(program, TRAP);
		if_any_bit_answer(program, MAP_ANONYMOUS, FAIL(EPERM));
	}
	answer(program, PASS);
}

void emit_verdict(struct program *program, const struct plan *plan, enum verdict verdict)
{
	unsigned refused = FAIL(EPERM), unhidden = plan->form == FORM_NAMESPACES ? PASS : refused;

	switch (verdict) {
	case NOT_THERE: answer(program, FAIL(ENOSYS)); break;
	case ALLOW: answer(program, PASS); break;
	case REFUSE: answer(program, refused); break;
	case OPEN: check_open(program, plan, -1, 1, 2); break;
	case OPEN_AT: check_open(program, plan, 0, 2, 3); break;
	case CREATE: check_open(program, plan, -1, -1, 1); break;
	case NODE: check_node(program, plan, 1); break;
	case NODE_AT: check_node(program, plan, 2); break;
	case MODE_OF_FD: check_mode(program, plan, 1); break;
	case MODE_AT: check_mode(program, plan, 2); break;
	case METADATA: answer(program, trap_or(plan, TRAP_METADATA, unhidden)); break;
	/* Landlock has no right for them, and many file systems say ENOTSUP. */
	case ATTRIBUTES: answer(program, plan->form == FORM_NAMESPACES ? PASS : FAIL(EOPNOTSUPP)); break;
	case IOCTL: check_ioctl(program, plan); break;
	case PRCTL: check_prctl(program); break;
	case PERSONALITY: check_personality(program); break;
	case ANONYMOUS_FILE: answer(program, memory_file_action(plan)); break;
	case MAPPING: check_mapping(program, plan); break;
	case EXECUTE_AT: answer(program, plan->exec_limited ? refused : PASS); break;
	case EXECUTE: answer(program, trap_or(plan, TRAP_EXEC, PASS)); break;
	case INOTIFY: answer(program, trap_or(plan, TRAP_WATCH, PASS)); break;
	case CLONE: check_clone(program, plan); break;
	case FORK: answer(program, trap_or(plan, TRAP_FORK, PASS)); break;
	/* Landlock scopes signals from ABI 6 on; a pid namespace always does. */
	case SIGNAL: answer(program, trap_or(plan, TRAP_SIGNAL, landlock_is_before(plan, 6) ? refused : PASS)); break;
	case CHANGE: answer(program, trap_or(plan, TRAP_CHANGE, name_action(plan))); break;
	case REMOVE_AT: check_removal(program, plan); break;
	case TRUNCATE:
		answer(program, landlock_is_before(plan, 3) || plan->kept.count ? trap_or(plan, TRAP_METADATA, refused)
										: trap_or(plan, TRAP_CHANGE, PASS));
		break;
	case CORE_LIMIT:
		check_core_limit(program, 0, 1);
		answer(program, PASS);
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
		answer(program, trap_or(plan, TRAP_CONNECT, connects_unjudged(plan) ? PASS : FAIL(EACCES)));
		break;
	case BIND: answer(program, bind_action(plan)); break;
	case LISTEN: answer(program, listen_action(plan)); break;
	case OPTION: check_option(program, plan); break;
	case SEND_THIRD: check_send(program, 2); break;
	case SEND_FOURTH: check_send(program, 3); break;
	}
}
