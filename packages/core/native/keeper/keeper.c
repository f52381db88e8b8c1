/*
 * The keeper: parent of the tool, inside the namespaces but not confined. It reaps, answers trapped calls, and takes
 * everything with it when the tool's own process ends: as pid 1 by dying, elsewhere by killing.
 */
#include "keeper/keeper.h"
#include "boundary/namespaces.h"
#include "boundary/root.h"
#include "boundary/scratch.h"
#include "keeper/seals.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/kernel.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

int enter_namespaces(const struct plan *plan, struct applied *applied)
{
	/* A SIGKILL of the supervisor is one of the whole pid namespace. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		die("keeper", NULL);
	if (plan->cgroup && unshare(CLONE_NEWCGROUP) < 0)
		die("cgroup-namespace", NULL);
	if (!plan->network_all)
		raise_loopback();
	/* Containers refuse a name of one's own; the namespace still keeps the host's from being changed. */
	if (sethostname("cell", 4) < 0 && errno != EPERM)
		die("uts-namespace", NULL);
	int mounts = open_mount_table();
	assemble_root(plan, applied);
	begin_seal_watch(plan, mounts);
	return mounts;
}

void hide_keeper(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* The command line of pid 1, which the tool can read, would tell where Cordon is installed. */
	memset(program_invocation_name, 0, strlen(program_invocation_name));
}

void show_scratch(const struct plan *plan, int supervisor)
{
	CLOSE_ON_RETURN int folder = open(plan->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		die("scratch", plan->scratch);
	send_packet(supervisor, PACKET_SCRATCH, 0, NULL, folder);
}

void stay_outside(void)
{
	/* Orphans come to us, and the supervisor's death is a signal that we survive long enough to act on. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0)
		die("keeper", NULL);
}

/* True when the tool's own process has ended. */
static bool reap(const struct keeper *keeper, int *status)
{
	bool ended = false;
	int found;

	for (pid_t pid; (pid = waitpid(-1, &found, WNOHANG | (keeper->plan->terminal ? WUNTRACED : 0))) > 0;) {
		/* A process that asked to be traced by its parent, and that is us: it goes on untraced. */
		if (WIFSTOPPED(found) &&
		    ptrace(PTRACE_DETACH, pid, NULL, (long)(WSTOPSIG(found) == SIGTRAP ? 0 : WSTOPSIG(found))) == 0)
			continue;
		if (pid != keeper->tool)
			continue;
		if (WIFSTOPPED(found)) {
			/* It wants the terminal: the host is told to get it, and then continues the tool. */
			if (WSTOPSIG(found) == SIGTTIN || WSTOPSIG(found) == SIGTTOU)
				tcsetpgrp(keeper->terminal, pid);
			send_packet(keeper->supervisor, PACKET_STOPPED, WSTOPSIG(found), NULL, -1);
			continue;
		}
		*status = found;
		ended = true;
	}
	return ended;
}

static void end_all(const struct keeper *keeper)
{
	if (!keeper->enclosed) {
		kill_descendants(own_pid_in_proc(), NULL, 0);
		return;
	}
	kill(-1, SIGKILL); /* all of the pid namespace but pid 1, or all that our signals reach */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/*
 * Kills everything else in the cell, and then reports the end. It reports before this process exits, because
 * dismantling the namespaces takes longer than many a tool runs.
 */
static _Noreturn void end_cell(const struct keeper *keeper, int status)
{
	struct rusage usage;
	char text[64];

	end_all(keeper);
	if (keeper->mounts >= 0 && mounts_changed(keeper->mounts))
		tell_fallen_seal(keeper->plan, keeper->supervisor);
	getrusage(RUSAGE_CHILDREN, &usage);
	snprintf(text, sizeof text, "%lu %ld", cpu_in(&usage), usage.ru_maxrss);
	/* A supervisor that was killed just now cleans up no more. */
	if (!offer_packet(keeper->supervisor, PACKET_EXIT, status, text, -1))
		remove_scratch(keeper->plan);
	_exit(0);
}

static int take_listener(int from)
{
	struct packet packet;
	int listener;

	if (receive_packet(from, &packet, &listener, NULL) <= 0)
		return -1;
	/* Tool and keeper take turns: one wakes the other on its own core (since Linux 6.6). */
	(void)!ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	return listener;
}

_Noreturn void watch_over_tool(const struct keeper *keeper)
{
	const struct plan *plan = keeper->plan;
	struct remembered *remembered = keeper->remembered;
	struct watched watched = { 0 };
	int status = 0, from_tool = keeper->from_tool, listener = -1;

	for (;;) {
		watched.count = 0;
		watch(&watched, keeper->signals, POLLIN);
		watch(&watched, from_tool, POLLIN);
		watch(&watched, listener, POLLIN);
		watch(&watched, keeper->mounts, POLLPRI);
		if (remembered->call.broker)
			watch_broker(&remembered->broker, &watched);
		watch_nested(&remembered->nest, &watched);
		if (poll(watched.at, watched.count, -1) < 0 && errno != EINTR)
			die("keeper", "poll");
		const struct pollfd *polled = watched.at, *others = polled + 4;
		/* Before anything else: every moment counts. The tool's status follows. */
		if (polled[3].revents && tell_fallen_seal(plan, keeper->supervisor))
			kill(-1, SIGKILL);
		if (polled[2].revents & POLLIN)
			answer_notification(remembered, listener);
		if (polled[2].revents & (POLLHUP | POLLERR))
			listener = -1;
		if (remembered->call.broker)
			others = answer_broker(&remembered->broker, others);
		hear_nested(&remembered->nest, others);
		if (polled[1].revents) {
			listener = take_listener(from_tool);
			from_tool = -1;
		}
		if (polled[0].revents & POLLIN) {
			struct signalfd_siginfo signal;
			if (read(keeper->signals, &signal, sizeof signal) != sizeof signal)
				continue;
			if (signal.ssi_signo == SIGTERM) { /* the supervisor is dead */
				end_all(keeper);
				remove_scratch(plan);
				_exit(EXIT_REFUSED);
			}
			/* The supervisor wants an end; the tool's status follows. */
			if (signal.ssi_signo == SIGUSR1 && keeper->enclosed)
				kill(-1, SIGKILL);
			if (reap(keeper, &status))
				end_cell(keeper, status);
		}
	}
}

int block_signals(const struct plan *plan)
{
	sigset_t handled;

	sigemptyset(&handled);
	sigaddset(&handled, SIGCHLD);
	if (plan->form == FORM_LANDLOCK) {
		sigaddset(&handled, SIGTERM);
		sigaddset(&handled, SIGUSR1);
	}
	sigprocmask(SIG_BLOCK, &handled, NULL);
	int signals = signalfd(-1, &handled, SFD_CLOEXEC);
	if (signals < 0)
		die("keeper", "signalfd");
	return signals;
}
