/*
 * Reaches a process outside the cell. Usage: other-processes PID ADDRESS FD
 * PID is a victim that counts SIGURG, ADDRESS a place in its memory and FD one
 * of its descriptors (see victim.c). Only SIGURG is sent: it is ignored by
 * whoever does not ask for it, should a route hit somebody else.
 */
#include "route.h"
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static pid_t victim;
static uintptr_t address;
static int descriptor;

static int victims_handle(void) { return (int)syscall(SYS_pidfd_open, victim, 0); }

static int by_kill(void) { TRY(kill(victim, SIGURG)); return 0; }
static int by_kill_probe(void) { TRY(kill(victim, 0)); return 0; }
static int by_tkill(void) { TRY(syscall(SYS_tkill, victim, SIGURG)); return 0; }
static int by_tgkill(void) { TRY(syscall(SYS_tgkill, victim, victim, SIGURG)); return 0; }
static int by_group(void) { TRY(kill(-victim, SIGURG)); return 0; }

static int by_queue(void)
{
	siginfo_t facts = { .si_code = SI_QUEUE, .si_signo = SIGURG };
	TRY(syscall(SYS_rt_sigqueueinfo, victim, SIGURG, &facts));
	return 0;
}

static int by_thread_queue(void)
{
	siginfo_t facts = { .si_code = SI_QUEUE, .si_signo = SIGURG };
	TRY(syscall(SYS_rt_tgsigqueueinfo, victim, victim, SIGURG, &facts));
	return 0;
}

static int by_pidfd(void)
{
	int handle = victims_handle();
	TRY(handle);
	TRY(syscall(SYS_pidfd_send_signal, handle, SIGURG, NULL, 0));
	return 0;
}

static int by_proc_handle(void)
{
	int handle = open(path_of("/proc/%d", victim), O_RDONLY | O_DIRECTORY);
	TRY(handle);
	TRY(syscall(SYS_pidfd_send_signal, handle, SIGURG, NULL, 0));
	return 0;
}

/* The kernel itself sends the signal when the pipe becomes readable. */
static int by_owner_of_pipe(void)
{
	int ends[2];
	TRY(pipe(ends));
	TRY(fcntl(ends[0], F_SETOWN, victim));
	TRY(fcntl(ends[0], F_SETSIG, SIGURG));
	TRY(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	TRY(write(ends[1], "x", 1));
	return 0;
}

static int by_ptrace_attach(void)
{
	TRY(ptrace(PTRACE_ATTACH, victim, NULL, NULL));
	waitpid(victim, NULL, __WALL);
	ptrace(PTRACE_DETACH, victim, NULL, NULL);
	return 0;
}

static int by_ptrace_seize(void)
{
	TRY(ptrace(PTRACE_SEIZE, victim, NULL, NULL));
	return 0;
}

static int by_vm_read(void)
{
	char text[32] = "";
	struct iovec to = { text, sizeof text - 1 }, from = { (void *)address, sizeof text - 1 };
	TRY(process_vm_readv(victim, &to, 1, &from, 1, 0));
	note("%s", text);
	return 0;
}

static int by_vm_write(void)
{
	struct iovec from = { "planted", 7 }, to = { (void *)(address + 64), 7 };
	TRY(process_vm_writev(victim, &from, 1, &to, 1, 0));
	return 0;
}

static int by_proc_memory(void)
{
	char text[32] = "";
	int fd = open(path_of("/proc/%d/mem", victim), O_RDONLY);
	TRY(fd);
	TRY(pread(fd, text, sizeof text - 1, (off_t)address));
	note("%s", text);
	return 0;
}

static int by_pidfd_getfd(void)
{
	int handle = victims_handle(), fd;
	TRY(handle);
	fd = (int)syscall(SYS_pidfd_getfd, handle, descriptor, 0);
	return take_from(fd);
}

static int by_proc_descriptor(void) { return take_from(open(path_of("/proc/%d/fd/%d", victim, descriptor), O_RDONLY)); }
static int by_proc_environ(void) { return take_from(open(path_of("/proc/%d/environ", victim), O_RDONLY)); }
static int by_proc_cmdline(void) { return take_from(open(path_of("/proc/%d/cmdline", victim), O_RDONLY)); }
static int by_proc_maps(void) { return take_from(open(path_of("/proc/%d/maps", victim), O_RDONLY)); }
static int by_proc_status(void) { return take_from(open(path_of("/proc/%d/status", victim), O_RDONLY)); }
static int by_proc_oom_score(void) { TRY(open(path_of("/proc/%d/oom_score_adj", victim), O_WRONLY)); return 0; }
static int by_kcmp(void) { TRY(syscall(SYS_kcmp, getpid(), victim, 2 /* KCMP_FILES */, 0, 0)); return 0; }
static int by_priority(void) { TRY(setpriority(PRIO_PROCESS, (id_t)victim, 1)); return 0; }
static int by_io_priority(void) { TRY(syscall(SYS_ioprio_set, 1, victim, (2 << 13) | 7)); return 0; }
static int by_robust_list(void) { void *head; size_t length; TRY(syscall(SYS_get_robust_list, victim, &head, &length)); return 0; }
static int by_session(void) { TRY(getsid(victim)); return 0; }

static int by_affinity(void)
{
	cpu_set_t set;
	TRY(sched_getaffinity(victim, sizeof set, &set));
	TRY(sched_setaffinity(victim, sizeof set, &set));
	return 0;
}

static int by_scheduler(void)
{
	struct sched_param parameters = { 0 };
	TRY(sched_setscheduler(victim, SCHED_BATCH, &parameters));
	return 0;
}

static int by_limits(void)
{
	struct rlimit limit;
	TRY(prlimit(victim, RLIMIT_NPROC, NULL, &limit));
	limit.rlim_cur = limit.rlim_max;
	TRY(prlimit(victim, RLIMIT_NPROC, &limit, NULL));
	return 0;
}

static int by_madvise(void)
{
	struct iovec range = { (void *)(address & ~4095ul), 4096 };
	int handle = victims_handle();
	TRY(handle);
	TRY(syscall(SYS_process_madvise, handle, &range, 1, 20 /* MADV_COLD */, 0));
	return 0;
}

static int by_moved_pages(void)
{
	void *page = (void *)(address & ~4095ul);
	int status;
	TRY(syscall(SYS_move_pages, victim, 1, &page, NULL, &status, 0));
	return 0;
}

static int by_namespace(void)
{
	int fd = open(path_of("/proc/%d/ns/user", victim), O_RDONLY);
	TRY(fd);
	return 0;
}

int main(int count, char **words)
{
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "kill-0", by_kill_probe }, { "kill", by_kill }, { "tkill", by_tkill }, { "tgkill", by_tgkill }, { "kill-group", by_group },
		{ "rt-sigqueueinfo", by_queue }, { "rt-tgsigqueueinfo", by_thread_queue }, { "pidfd-send-signal", by_pidfd },
		{ "pidfd-of-proc", by_proc_handle }, { "f-setown", by_owner_of_pipe }, { "ptrace-attach", by_ptrace_attach },
		{ "ptrace-seize", by_ptrace_seize }, { "process-vm-readv", by_vm_read }, { "process-vm-writev", by_vm_write },
		{ "proc-mem", by_proc_memory }, { "pidfd-getfd", by_pidfd_getfd }, { "proc-fd", by_proc_descriptor },
		{ "proc-environ", by_proc_environ }, { "proc-cmdline", by_proc_cmdline }, { "proc-maps", by_proc_maps },
		{ "proc-status", by_proc_status }, { "proc-oom-score-adj", by_proc_oom_score },
		{ "kcmp", by_kcmp }, { "setpriority", by_priority }, { "ioprio-set", by_io_priority }, { "sched-setaffinity", by_affinity },
		{ "sched-setscheduler", by_scheduler }, { "prlimit", by_limits }, { "get-robust-list", by_robust_list },
		{ "process-madvise", by_madvise }, { "move-pages", by_moved_pages }, { "getsid", by_session }, { "proc-ns", by_namespace },
	};
	if (count != 4) return 64;
	victim = (pid_t)strtol(words[1], NULL, 10);
	address = strtoul(words[2], NULL, 10);
	descriptor = (int)strtol(words[3], NULL, 10);
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) route(routes[i].name, routes[i].try);
	return 0;
}
