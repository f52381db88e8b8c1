/*
 * Attacks the process that holds the cell: its parent, and process 1.
 * Usage: supervisor parent|first [ROUTE]
 * Signals to process 1 are ignored by the kernel unless it asks for them, so
 * that even on a bare host nothing comes of those.
 */
#include "route.h"
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static pid_t target;

/* Gone or stopped: what the signal was for. */
static int worked(void)
{
	char line[512] = "";
	for (int i = 0; i < 50; i++) {
		int fd = open(path_of("/proc/%d/stat", target), O_RDONLY);
		if (fd < 0) return kill(target, 0) < 0 && errno == ESRCH ? 0 : NOTHING;
		if (read(fd, line, sizeof line - 1) <= 0) return 0;
		close(fd);
		char *state = strrchr(line, ')');
		if (state && strchr("TtZX", state[2])) return 0;
		usleep(2000);
	}
	return NOTHING;
}

static int stop(void) { TRY(kill(target, SIGSTOP)); return worked(); }
static int end(void) { TRY(kill(target, SIGKILL)); return worked(); }
static int ask_to_end(void) { TRY(kill(target, SIGTERM)); return worked(); }
static int crash(void) { TRY(kill(target, SIGSEGV)); return worked(); }

static int its_group(void)
{
	pid_t group = getpgid(target);
	TRY(group);
	/* Group 0 and 1 would mean somebody else. */
	if (group < 2 || group == getpgrp()) return NOTHING;
	TRY(kill(-group, SIGTERM));
	return worked();
}

static int seize(void) { TRY(ptrace(PTRACE_SEIZE, target, NULL, NULL)); return 0; }
static int read_memory(void) { TRY(open(path_of("/proc/%d/mem", target), O_RDWR)); return 0; }
static int descriptors(void) { int handle = (int)syscall(SYS_pidfd_open, target, 0); TRY(handle); TRY(syscall(SYS_pidfd_getfd, handle, 0, 0)); return 0; }
static int lower_priority(void) { TRY(setpriority(PRIO_PROCESS, (id_t)target, 19)); return 0; }
static int change_root_view(void) { TRY(open(path_of("/proc/%d/root/", target), O_RDONLY | O_DIRECTORY)); return 0; }
static int its_folder(void) { TRY(open(path_of("/proc/%d/cwd/", target), O_RDONLY | O_DIRECTORY)); return 0; }
static int its_program(void) { TRY(open(path_of("/proc/%d/exe", target), O_RDONLY)); return 0; }

static int write_memory(void)
{
	char byte;
	struct iovec own = { &byte, 1 }, other = { (void *)0x400000, 1 };
	return process_vm_readv(target, &own, 1, &other, 1, 0) < 0 && errno != EFAULT ? errno : 0;
}

static int starve(void)
{
	struct rlimit limit;
	TRY(prlimit(target, RLIMIT_NOFILE, NULL, &limit));
	TRY(prlimit(target, RLIMIT_NOFILE, &limit, NULL));
	return 0;
}

static int batch_class(void)
{
	struct sched_param parameters = { 0 };
	TRY(sched_setscheduler(target, SCHED_BATCH, &parameters));
	return 0;
}

static int first_to_die(void)
{
	int fd = open(path_of("/proc/%d/oom_score_adj", target), O_WRONLY);
	TRY(fd);
	TRY(write(fd, "1000", 4));
	return 0;
}

/* CVE-2019-5736: the program of whoever started us, opened while it runs, written when it does not. */
static int overwrite_program(void)
{
	int handle = open(path_of("/proc/%d/exe", target), O_PATH);
	TRY(handle);
	int fd = open(path_of("/proc/self/fd/%d", handle), O_WRONLY | O_APPEND);
	if (fd < 0 && errno != ETXTBSY) return errno;
	note("%s", fd < 0 ? "only busy" : "open for writing");
	return 0;
}

int main(int count, char **words)
{
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "ptrace", seize }, { "proc-mem", read_memory }, { "process-vm", write_memory }, { "pidfd-getfd", descriptors },
		{ "proc-root", change_root_view }, { "proc-cwd", its_folder }, { "proc-exe", its_program }, { "overwrite-exe", overwrite_program },
		{ "setpriority", lower_priority }, { "prlimit", starve }, { "sched-batch", batch_class }, { "oom-score-adj", first_to_die },
		{ "sigstop", stop }, { "sigterm", ask_to_end }, { "sigsegv", crash }, { "sigterm-group", its_group }, { "sigkill", end },
	};
	if (count < 2) return 64;
	target = strcmp(words[1], "first") == 0 ? 1 : getppid();
	/* Without a parent there is nothing to attack but the host's first process. */
	if (target == 1 && strcmp(words[1], "first") != 0) unable("the parent is process 1");
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
		if (count > 2 && strcmp(words[2], routes[i].name) != 0) continue;
		route(routes[i].name, routes[i].try);
		if (strcmp(routes[i].name, "sigstop") == 0 && target != 1) kill(target, SIGCONT);
	}
	return 0;
}
