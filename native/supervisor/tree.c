/* The processes of a cell, seen through /proc. */
#include "wire/cell.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

size_t read_proc(char *into, size_t room, const char *path)
{
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;

	while (fd >= 0 && at + 1 < room) {
		ssize_t got = read(fd, into + at, room - 1 - at);
		if (got <= 0)
			break;
		at += got;
	}
	into[at] = '\0';
	return at;
}

const char *read_stat(char *into, size_t room, const char *path)
{
	/* The command name may hold anything, also parentheses: the last one ends it. */
	return read_proc(into, room, path) > 0 ? strrchr(into, ')') : NULL;
}

/* Our number as /proc counts: where that is an outer namespace's, it is not getpid(). */
pid_t own_pid_in_proc(void)
{
	char text[32] = "";

	if (readlink("/proc/self", text, sizeof text - 1) < 0)
		return getpid();
	return atoi(text);
}

struct killing {
	const struct copiers *except;
	int signal;
	unsigned count;
};

static void kill_one(pid_t pid, void *context)
{
	struct killing *killing = context;

	if (!is_copier(killing->except, pid) && kill(pid, killing->signal) == 0)
		killing->count++;
}

void kill_descendants(pid_t root, const struct copiers *except)
{
	/* Stopped first, so that none forks away while the others die; repeated, because one may have. */
	for (;;) {
		struct killing stop = { except, SIGSTOP, 0 }, end = { except, SIGKILL, 0 };
		each_descendant(root, kill_one, &stop);
		each_descendant(root, kill_one, &end);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* a copier, too: it is waited for by number later, and then simply gone */
		if (end.count == 0)
			return;
		usleep(200);
	}
}

uint64_t field_in_kilobytes(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

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

/* Whether /proc shows us our own descendants. The keeper is there until we reap it, however short a probe's tool lives. */
bool sees_descendants(void)
{
	struct consumption used;

	measure_descendants(own_pid_in_proc(), &used);
	return used.tasks > 0;
}
