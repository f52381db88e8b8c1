/*
 * Looks for what belongs to the caller: its environment, its command line, its
 * memory, its descriptors. Usage: environment MARK
 * The host keeps MARK-host… in its own environment and command line; the
 * program is given MARK alone, so that it cannot find its own arguments.
 */
#include "route.h"
#include <dirent.h>
#include <sys/resource.h>

extern char **environ;
static const char *mark;
static char *buffer;
static const size_t room = 1 << 20;

/* The whole word, so that a leak shows what leaked. */
static int found_in(const char *bytes, size_t length)
{
	const char *at = memmem(bytes, length, mark, strlen(mark));
	if (!at) return NOTHING;
	note("%.40s", at);
	return 0;
}

static int search(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	size_t length = 0;
	ssize_t got;
	TRY(fd);
	while (length < room && (got = read(fd, buffer + length, room - length)) > 0) length += (size_t)got;
	close(fd);
	return found_in(buffer, length);
}

static int own_variables(void)
{
	for (char **variable = environ; *variable; variable++) if (found_in(*variable, strlen(*variable)) == 0) return 0;
	return NOTHING;
}

static int own_environ(void) { return search("/proc/self/environ"); }
static int first_environ(void) { return search("/proc/1/environ"); }
static int first_cmdline(void) { return search("/proc/1/cmdline"); }
static int parents_environ(void) { return search(path_of("/proc/%d/environ", getppid())); }

/* route() forks, so the parent's parent is whoever started the program. */
static int starter(const char *file)
{
	char line[4096] = "";
	int fd = open(path_of("/proc/%d/stat", getppid()), O_RDONLY), pid = 0;
	TRY(fd);
	TRY(read(fd, line, sizeof line - 1));
	char *after_name = strrchr(line, ')');
	if (!after_name || sscanf(after_name + 2, "%*c %d", &pid) != 1 || pid == 0) return NOTHING;
	return search(path_of("/proc/%d/%s", pid, file));
}

static int starters_environ(void) { return starter("environ"); }
static int starters_cmdline(void) { return starter("cmdline"); }

static int in_any_process(const char *file)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int last = NOTHING;
	if (!processes) return errno;
	while ((entry = readdir(processes))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
		int pid = atoi(entry->d_name);
		if (pid == getpid() || pid == getppid()) continue;
		last = search(path_of("/proc/%d/%s", pid, file));
		if (last == 0) return 0;
	}
	return last;
}

static int any_environ(void) { return in_any_process("environ"); }
static int any_cmdline(void) { return in_any_process("cmdline"); }

/* Other people's processes seen at all: more than the cell's own few. */
static int any_process(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int last = NOTHING;
	if (!processes) return errno;
	while ((entry = readdir(processes))) {
		char target[PATH_MAX] = "";
		int pid = atoi(entry->d_name);
		if (pid <= 0 || pid == getpid() || pid == getppid()) continue;
		if (readlink(path_of("/proc/%d/cwd", pid), target, sizeof target - 1) > 0) return note("cwd of %d is %s", pid, target), 0;
		last = errno;
	}
	return last;
}

/* The launcher's own variables lay at the top of the stack before it executed the tool. */
static int own_memory(void)
{
	unsigned long from = 0, to = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	if (!maps) return errno;
	while (fgets(line, sizeof line, maps)) if (strstr(line, "[stack]")) sscanf(line, "%lx-%lx", &from, &to);
	return found_in((char *)from, to - from);
}

/* Anything open beyond stdin, stdout, stderr, and route()'s own pipe. */
static int descriptors(void)
{
	int open_ones = 0;
	char list[128] = "";
	for (int fd = 3; fd < 4096; fd++) {
		char target[PATH_MAX] = "";
		int flags = fcntl(fd, F_GETFD);
		if (flags < 0 || flags & FD_CLOEXEC) continue;
		open_ones++;
		if (readlink(path_of("/proc/self/fd/%d", fd), target, sizeof target - 1) < 0) strcpy(target, "?");
		snprintf(list + strlen(list), sizeof list - strlen(list), "%d=%.40s ", fd, target);
	}
	note("%s", list);
	return open_ones ? 0 : NOTHING;
}

static int descriptors_of(const char *process)
{
	DIR *listing = opendir(path_of("/proc/%s/fd", process));
	struct dirent *entry;
	int last = NOTHING;
	if (!listing) return errno;
	while ((entry = readdir(listing))) {
		if (entry->d_name[0] == '.') continue;
		int fd = open(path_of("/proc/%s/fd/%s", process, entry->d_name), O_RDONLY | O_NONBLOCK);
		if (fd >= 0) return note("opened descriptor %s of %s", entry->d_name, process), 0;
		last = errno;
	}
	return last;
}

static int descriptors_of_first(void) { return descriptors_of("1"); }

/* A raised limit, then a crash: does a core file appear in the working directory? */
static int core_limit(void)
{
	struct rlimit limit;
	TRY(getrlimit(RLIMIT_CORE, &limit));
	note("hard limit %lu", (unsigned long)limit.rlim_max);
	/* 1 stands for none, see disable_core_dumps() of the launcher. */
	return limit.rlim_max <= 1 ? NOTHING : 0;
}

int main(int count, char **words)
{
	if (count != 2) return 64;
	mark = path_of("%s-host", words[1]);
	buffer = malloc(room);
	route("getenv", own_variables);
	route("proc-self-environ", own_environ);
	route("proc-1-environ", first_environ);
	route("proc-1-cmdline", first_cmdline);
	route("proc-parent-environ", parents_environ);
	route("proc-starter-environ", starters_environ);
	route("proc-starter-cmdline", starters_cmdline);
	route("proc-any-environ", any_environ);
	route("proc-any-cmdline", any_cmdline);
	route("proc-any-cwd", any_process);
	route("stack-top", own_memory);
	route("descriptors", descriptors);
	route("proc-1-fd", descriptors_of_first);
	route("core-limit", core_limit);
	return 0;
}
