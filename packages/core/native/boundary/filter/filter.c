/*
 * seccomp: the table of syscalls.h as a BPF program.
 *
 * At load time the kernel finds the calls that are always allowed, and never runs the program for them. Of the others,
 * the frequent ones come first. A binary search over ranges of equal verdict finds the rest, and keeps the program
 * short.
 */
#include "boundary/filter/filter.h"
#include "boundary/filter/verdicts.h"
#include "wire/kernel.h"
#include "wire/report.h"

#include <linux/audit.h>

#if defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#error "the syscall list is written for aarch64 and x86_64"
#endif

static const struct call {
	int number;
	enum verdict verdict;
} calls[] = {
#define ALLOW(name) CALL(name, ALLOW)
#define REFUSE(name) CALL(name, REFUSE)
#define CALL(name, verdict) { __NR_##name, verdict },
#include "boundary/filter/syscalls.h"
#undef CALL
};

#define HIGHEST_NUMBER 480

#define CALL(name, verdict) _Static_assert(__NR_##name <= HIGHEST_NUMBER, #name);
#include "boundary/filter/syscalls.h"
#undef CALL

/* Leaves the number in the accumulator alone until a range is found. */
static void emit_search(struct program *program, const struct plan *plan, const enum verdict *table, int low, int high)
{
	int boundary = -1, middle = low + (high - low) / 2;

	for (int distance = 0; boundary < 0 && distance <= high - low; distance++) {
		if (middle - distance > low && table[middle - distance] != table[middle - distance - 1])
			boundary = middle - distance;
		else if (middle + distance > low && middle + distance <= high &&
			 table[middle + distance] != table[middle + distance - 1])
			boundary = middle + distance;
	}
	if (boundary < 0) {
		emit_verdict(program, plan, table[low]);
		return;
	}
	/* A conditional jump reaches 255 instructions; the unconditional one reaches all. */
	emit(program, BPF_JMP | BPF_JGE | BPF_K, boundary, 0, 1);
	unsigned short jump = program->length;
	emit(program, BPF_JMP | BPF_JA, 0, 0, 0);
	emit_search(program, plan, table, low, boundary - 1);
	program->at[jump].k = program->length - jump - 1;
	emit_search(program, plan, table, boundary, high);
}

/* `find` asks fcntl() five times for each folder: here that costs a tenth of what it does behind the search. */
static const int frequent[] = { __NR_fcntl, __NR_openat, __NR_mmap };

static void emit_frequent(struct program *program, const struct plan *plan, const enum verdict *table)
{
	for (size_t i = 0; i < COUNT_OF(frequent); i++) {
		unsigned short jump = program->length;
		branch(program, frequent[i], 0, 0);
		emit_verdict(program, plan, table[frequent[i]]);
		int length = program->length - jump - 1;
		if (length > 255) {
			errno = E2BIG;
			die("seccomp", "the check of a frequent call is too long to be jumped over");
		}
		program->at[jump].jf = (__u8)length;
	}
}

static void compile(struct program *program, const struct plan *plan)
{
	enum verdict table[HIGHEST_NUMBER + 1] = { 0 };

	for (size_t i = 0; i < COUNT_OF(calls); i++)
		table[calls[i].number] = calls[i].verdict;

	program->length = 0;
	load(program, offsetof(struct seccomp_data, arch));
	branch(program, OWN_ARCHITECTURE, 1, 0);
	answer(program, SECCOMP_RET_KILL_PROCESS);
	load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	if_any_bit_answer(program, __X32_SYSCALL_BIT, SECCOMP_RET_KILL_PROCESS);
#endif
	emit_frequent(program, plan, table);
	emit(program, BPF_JMP | BPF_JGT | BPF_K, HIGHEST_NUMBER, 0, 1);
	answer(program, FAIL(ENOSYS));
	emit_search(program, plan, table, 0, HIGHEST_NUMBER);
}

int apply_seccomp(const struct plan *plan)
{
	struct program program;
	struct sock_fprog description = { .filter = program.at };

	compile(&program, plan);
	description.len = program.length;
	if (!plan->traps) {
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &description) < 0)
			die("seccomp", "cannot install the filter");
		return -1;
	}
	/* A trapped call must not be begun twice because a signal came in between (since Linux 5.19). */
	int listener =
		(int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &description);
	if (listener < 0 && errno == EINVAL)
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
					&description);
	if (listener < 0)
		die("seccomp-listener", "cannot install the filter with its listener");
	return listener;
}
