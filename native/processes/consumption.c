/* What the processes of a cell use together, by /proc. */
#include "processes/consumption.h"
#include "processes/descendants.h"
#include "processes/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void measure_one(pid_t pid, void *context)
{
	struct consumption *sum = context;
	char path[64], text[4096];
	unsigned long user, system, children_user, children_system;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (read_proc(text, sizeof text, path) == 0)
		return;
	const char *threads = strstr(text, "\nThreads:");
	sum->tasks += threads ? strtoul(threads + 9, NULL, 10) : 1;
	sum->resident += field_in_kilobytes(text, "\nVmRSS:") + field_in_kilobytes(text, "\nVmPTE:") +
			 field_in_kilobytes(text, "\nVmSwap:");

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	const char *behind_name = read_stat(text, sizeof text, path);
	if (behind_name && sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &user,
				  &system, &children_user, &children_system) == 4)
		sum->cpu += (user + system + children_user + children_system) * 1000 / sysconf(_SC_CLK_TCK);
}

static void count_one(pid_t pid, void *context)
{
	(void)pid;
	++*(uint64_t *)context;
}

uint64_t count_descendants(pid_t root)
{
	uint64_t count = 0;

	each_descendant(root, count_one, &count);
	return count;
}

void measure_descendants(pid_t root, struct consumption *sum)
{
	struct consumption own = { 0 };

	*sum = (struct consumption){ 0 };
	each_descendant(root, measure_one, sum);
	/* Of orphans that the root itself has waited for. Its own time is little. */
	measure_one(root, &own);
	sum->cpu += own.cpu;
}

/* Whether /proc shows us our own descendants. The keeper is there until we reap it, however short its tool lives. */
bool sees_descendants(void)
{
	struct consumption used;

	measure_descendants(own_pid_in_proc(), &used);
	return used.tasks > 0;
}
