/*
 * The beginning of a local host. The limits and the scheduling of the command that starts it would be those of
 * everybody whom it serves later. Where limits cannot be left behind there is no host, and every run has its own
 * process.
 */
#include "front/alone.h"
#include "wire/frames.h"
#include "wire/report.h"

#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* The least that a host needs of each. */
static const struct {
	int resource;
	rlim_t least;
} SPARED[] = {
	{ RLIMIT_FSIZE, RLIM_INFINITY }, { RLIMIT_CPU, RLIM_INFINITY }, { RLIMIT_AS, RLIM_INFINITY },
	{ RLIMIT_DATA, RLIM_INFINITY },	 { RLIMIT_NOFILE, 1024 },	{ RLIMIT_NPROC, 1024 },
	{ RLIMIT_SIGPENDING, 128 },	 { RLIMIT_MEMLOCK, 0 },		{ RLIMIT_STACK, 8 << 20 },
};

static bool leave_limit(int resource, rlim_t least)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0 || limit.rlim_max < least)
		return false;
	/* With a stack without end the addresses of all libraries would be easier to guess. */
	limit.rlim_cur = resource == RLIMIT_STACK ? least : limit.rlim_max;
	return setrlimit(resource, &limit) == 0;
}

/* What makes a process slow, or its memory easy to predict. False in a class that an ordinary user cannot leave. */
static bool leave_scheduling(void)
{
	struct sched_param ordinary = { 0 };
	cpu_set_t all;

	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	memset(&all, 0xff, sizeof all);
	sched_setaffinity(0, sizeof all, &all);
	syscall(SYS_ioprio_set, 1 /* one process */, 0, 0);
	prctl(PR_SET_TIMERSLACK, 0);
	personality(PER_LINUX);
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0)
		write_fully(score, "0", 1);
	return sched_getscheduler(0) == SCHED_OTHER;
}

int run_alone(char **words)
{
	struct rlimit none = { 0, 0 };
	char *const variables[] = { NULL };

	for (size_t i = 0; i < COUNT_OF(SPARED); i++)
		if (!leave_limit(SPARED[i].resource, SPARED[i].least))
			return EXIT_REFUSED;
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) > 0 && setpriority(PRIO_PROCESS, 0, 0) < 0)
		return EXIT_REFUSED;
	if (!leave_scheduling())
		return EXIT_REFUSED;
	/* It has credentials of those whom it serves in memory. */
	setrlimit(RLIMIT_CORE, &none);
	umask(077);
	execve(words[0], words, variables);
	return EXIT_REFUSED;
}
