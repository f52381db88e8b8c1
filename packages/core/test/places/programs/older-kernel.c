/*
 * Runs a command on what looks like an older kernel. Usage: older-kernel WORD... -- COMMAND...
 *
 *   landlock=N          Landlock is at ABI N: a newer right or field is refused, as N would
 *   no-children-files   /proc/PID/task/TID/children does not exist
 *
 * A tracer looks at the few system calls concerned. It takes neither the seccomp
 * listener (as answering by notification would) nor anything else away.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_RULESET 444
#ifdef SYS_access
#define PLAIN_ACCESS SYS_access
#else
#define PLAIN_ACCESS UINT32_MAX /* aarch64 has only faccessat */
#endif
#define OPTIONS (PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

static int landlock; /* 0: as it is */
static int no_children_files;

static _Noreturn void stop(const char *what)
{
	fprintf(stderr, "older-kernel: %s: %s\n", what, strerror(errno));
	exit(99);
}

#if defined(__aarch64__)
struct call { uint64_t arguments[6]; uint64_t number; };

static void read_call(pid_t pid, struct call *call)
{
	struct user_regs_struct registers;
	struct iovec all = { &registers, sizeof registers };
	ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &all);
	memcpy(call->arguments, registers.regs, sizeof call->arguments);
	call->number = registers.regs[8];
}

/* The call is not carried out, and returns this. */
static void answer(pid_t pid, int64_t value)
{
	struct user_regs_struct registers;
	struct iovec all = { &registers, sizeof registers };
	int none = -1;
	struct iovec number = { &none, sizeof none };
	ptrace(PTRACE_SETREGSET, pid, (void *)0x404 /* NT_ARM_SYSTEM_CALL */, &number);
	ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &all);
	registers.regs[0] = (uint64_t)value;
	ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &all);
}
#elif defined(__x86_64__)
struct call { uint64_t arguments[6]; uint64_t number; };

static void read_call(pid_t pid, struct call *call)
{
	struct user_regs_struct r;
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	*call = (struct call){ { r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9 }, r.orig_rax };
}

static void answer(pid_t pid, int64_t value)
{
	struct user_regs_struct r;
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	r.orig_rax = (uint64_t)-1;
	r.rax = (uint64_t)value;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
}
#else
#error "written for aarch64 and x86_64"
#endif

static size_t read_memory(pid_t pid, uint64_t from, void *to, size_t length)
{
	struct iovec here = { to, length }, there = { (void *)from, length };
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
	return got < 0 ? 0 : (size_t)got;
}

/* As the documentation of Landlock says which ABI brought what. */
static int unknown_to_abi(const uint64_t *attributes, size_t size)
{
	uint64_t rights = landlock >= 5 ? 0xffff : landlock >= 3 ? 0x7fff : landlock >= 2 ? 0x3fff : 0x1fff;
	size_t known = landlock >= 6 ? 24 : landlock >= 4 ? 16 : 8;

	for (size_t at = known / 8; at < size / 8; at++)
		if (attributes[at])
			return E2BIG;
	return attributes[0] & ~rights ? EINVAL : 0;
}

static void look_at_ruleset(pid_t pid, const struct call *call)
{
	uint64_t attributes[3] = { 0 };
	size_t size = call->arguments[1] < sizeof attributes ? call->arguments[1] : sizeof attributes;

	if (call->arguments[2] & 1) {
		answer(pid, landlock > 0 ? landlock : -EOPNOTSUPP);
		return;
	}
	if (read_memory(pid, call->arguments[0], attributes, size) == size && unknown_to_abi(attributes, size))
		answer(pid, -unknown_to_abi(attributes, size));
}

/* Page by page: behind the page in which the text ends there may be nothing. */
static void read_text(pid_t pid, uint64_t from, char *to, size_t size)
{
	for (size_t have = 0; have < size - 1;) {
		size_t page = 4096 - ((from + have) & 4095), rest = size - 1 - have;
		size_t got = read_memory(pid, from + have, to + have, page < rest ? page : rest);
		if (got == 0 || memchr(to + have, 0, got))
			return;
		have += got;
	}
}

static void look_at_path(pid_t pid, uint64_t pointer)
{
	char path[256] = "";

	read_text(pid, pointer, path, sizeof path);
	size_t length = strlen(path);
	if (strncmp(path, "/proc/", 6) == 0 && length > 9 && strcmp(path + length - 9, "/children") == 0)
		answer(pid, -ENOENT);
}

static void look(pid_t pid)
{
	struct call call;

	read_call(pid, &call);
	if (call.number == CREATE_RULESET)
		look_at_ruleset(pid, &call);
	else if (call.number == PLAIN_ACCESS)
		look_at_path(pid, call.arguments[0]);
	else
		look_at_path(pid, call.arguments[1]);
}

static void start(char **command)
{
	struct sock_filter filter[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, landlock ? 4 : 0, 0, CREATE_RULESET },
		{ BPF_JMP | BPF_JEQ | BPF_K, no_children_files ? 3 : 0, 0, SYS_openat },
		{ BPF_JMP | BPF_JEQ | BPF_K, no_children_files ? 2 : 0, 0, SYS_faccessat },
		{ BPF_JMP | BPF_JEQ | BPF_K, no_children_files ? 1 : 0, 0, PLAIN_ACCESS },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRACE },
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	raise(SIGSTOP);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		stop("seccomp");
	execvp(*command, command);
	stop(*command);
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int trace(pid_t first)
{
	int status, result = 99;

	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
		int event = status >> 16, signal = WSTOPSIG(status);
		if (!WIFSTOPPED(status)) {
			if (pid == first)
				result = status_of(status);
			continue;
		}
		if (event == PTRACE_EVENT_SECCOMP)
			look(pid);
		/* A stop for a group, which must last until it is continued; other events are no signals. */
		if (event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU))
			ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		else
			ptrace(PTRACE_CONT, pid, NULL, event ? 0 : (void *)(long)signal);
	}
	return result;
}

int main(int argc, char **argv)
{
	int at = 1, status;

	for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
		if (strcmp(argv[at], "no-children-files") == 0)
			no_children_files = 1;
		else if (sscanf(argv[at], "landlock=%d", &landlock) != 1)
			at = argc;
	}
	if (at + 1 >= argc) {
		fputs("usage: older-kernel landlock=N|no-children-files... -- COMMAND...\n", stderr);
		return 99;
	}
	pid_t first = fork();
	if (first < 0)
		stop("fork");
	if (first == 0)
		start(argv + at + 1);
	if (waitpid(first, &status, WUNTRACED) < 0 || ptrace(PTRACE_SEIZE, first, NULL, OPTIONS | PTRACE_O_EXITKILL) < 0)
		stop("trace");
	kill(first, SIGCONT);
	return trace(first);
}
