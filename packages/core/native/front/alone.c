/*
 * The beginning of a local host. The limits of the command that starts it would be those of everybody whom it serves
 * later. Where they cannot be left behind there is no host, and every run has its own process.
 */
#include "front/alone.h"
#include "wire/report.h"

#include <sys/resource.h>

static const int SPARED[] = { RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE };
#define ENOUGH_FILES 1024

static bool leave_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) == 0 &&
	       (resource == RLIMIT_NOFILE ? limit.rlim_max >= ENOUGH_FILES : limit.rlim_max == RLIM_INFINITY);
}

int run_alone(char **words)
{
	struct rlimit none = { 0, 0 };
	char *const variables[] = { NULL };

	for (size_t i = 0; i < COUNT_OF(SPARED); i++)
		if (!leave_limit(SPARED[i]))
			return EXIT_REFUSED;
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) > 0 && setpriority(PRIO_PROCESS, 0, 0) < 0)
		return EXIT_REFUSED;
	/* It has credentials of those whom it serves in memory. */
	setrlimit(RLIMIT_CORE, &none);
	umask(077);
	execve(words[0], words, variables);
	return EXIT_REFUSED;
}
