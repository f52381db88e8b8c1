/*
 * One cgroup (version 2) per call, where the host lets us make any: the kernel itself then bounds the memory and the
 * processes of the call, and kills them in one step. The keeper is born in it: moving a process there would make the
 * whole machine wait.
 *
 * The supervisor removes it. If it was killed before, a later probe does: what is empty, ours, and locked by nobody has
 * been left behind.
 */
#include "boundary/cgroup.h"
#include "wire/frames.h"
#include "wire/report.h"

#include <linux/sched.h>
#include <sys/file.h>
#include <sys/random.h>

#define NAME_PREFIX "cordon-cell-"

/* What the keeper and the namespaces take beside the tool. */
#define OWN_MEMORY (8ull << 20)
#define OWN_PROCESSES 1

/* Between the making of a cgroup and its lock. */
#define SECONDS_UNTIL_STALE 10

static bool write_file(int folder, const char *name, const char *text)
{
	CLOSE_ON_RETURN int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write_fully(fd, text, strlen(text));
}

/* Not left behind where a host lets us make one but not use it. */
static _Noreturn void give_up(const struct cgroup *cgroup, const char *detail)
{
	int error = errno;

	unlinkat(cgroup->parent, cgroup->name, AT_REMOVEDIR);
	errno = error;
	die("cgroup", detail);
}

static void set(const struct cgroup *cgroup, const char *file, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%lu", value);
	if (!write_file(cgroup->folder, file, text))
		give_up(cgroup, file);
}

static void set_limits(const struct cgroup *cgroup, const struct limits *limits)
{
	uint64_t processes = limits->processes ? limits->processes : limits->user_processes;

	if (limits->memory) {
		set(cgroup, "memory.max", limits->memory + OWN_MEMORY);
		/* Half of a call that goes on without the other half helps nobody. */
		set(cgroup, "memory.oom.group", 1);
		/* Not there where the kernel has no swap. */
		if (!write_file(cgroup->folder, "memory.swap.max", "0") && errno != ENOENT)
			give_up(cgroup, "memory.swap.max");
	}
	if (processes)
		set(cgroup, "pids.max", processes + OWN_PROCESSES);
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += length)
		if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\n' || at[length] == '\0'))
			return true;
	return false;
}

/* The kernel refuses (EBUSY) where processes live in the parent itself, unless it is the root of all. */
static void pass_controllers_on(int parent)
{
	char text[256] = "";
	CLOSE_ON_RETURN int fd = openat(parent, "cgroup.subtree_control", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
		die("cgroup", "cgroup.subtree_control");
	if (has_word(text, "memory") && has_word(text, "pids"))
		return;
	if (!write_file(parent, "cgroup.subtree_control", "+memory +pids"))
		die("cgroup", "cgroup.subtree_control");
}

static bool is_left_behind(int folder)
{
	struct stat status;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
	       now.tv_sec - status.st_ctim.tv_sec > SECONDS_UNTIL_STALE && flock(folder, LOCK_EX | LOCK_NB) == 0;
}

/* Cgroups of supervisors that were killed. One that is not empty cannot be removed. */
static void sweep(int parent)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries = open_entries(openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	for (struct dirent *entry; (entry = next_entry(entries));) {
		if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
			continue;
		CLOSE_ON_RETURN int folder =
			openat(parent, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder >= 0 && is_left_behind(folder))
			unlinkat(parent, entry->d_name, AT_REMOVEDIR);
	}
}

struct cgroup make_cgroup(const struct plan *plan)
{
	struct cgroup cgroup = { .parent = -1, .folder = -1 };
	uint64_t number;

	if (!plan->cgroup)
		return cgroup;
	cgroup.parent = open(plan->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup.parent < 0)
		die("cgroup", plan->cgroup);
	if (plan->probe)
		sweep(cgroup.parent);
	pass_controllers_on(cgroup.parent);
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		die("cgroup", "getrandom");
	snprintf(cgroup.name, sizeof cgroup.name, NAME_PREFIX "%016lx", number);
	if (mkdirat(cgroup.parent, cgroup.name, 0755) < 0)
		die("cgroup", plan->cgroup);
	cgroup.folder = openat(cgroup.parent, cgroup.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Locked for as long as this process lives: that tells a cgroup in use from one left behind. */
	if (cgroup.folder < 0 || flock(cgroup.folder, LOCK_EX | LOCK_NB) < 0)
		give_up(&cgroup, cgroup.name);
	if (faccessat(cgroup.folder, "cgroup.kill", W_OK, AT_EACCESS) < 0)
		give_up(&cgroup, "cgroup.kill (Linux 5.14)");
	set_limits(&cgroup, &plan->limits);
	return cgroup;
}

pid_t clone_into_cgroup(const struct cgroup *cgroup, unsigned long flags)
{
	struct clone_args arguments = { .flags = flags | CLONE_INTO_CGROUP,
					.exit_signal = SIGCHLD,
					.cgroup = cgroup->folder };

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

void kill_cgroup(const struct cgroup *cgroup)
{
	if (cgroup->folder >= 0)
		write_file(cgroup->folder, "cgroup.kill", "1");
}

void remove_cgroup(const struct cgroup *cgroup)
{
	if (cgroup->folder < 0)
		return;
	kill_cgroup(cgroup);
	/* The dead are in it until the kernel has taken their namespaces apart. */
	for (int tries = 0; unlinkat(cgroup->parent, cgroup->name, AT_REMOVEDIR) < 0 && errno == EBUSY && tries < 200;
	     tries++)
		usleep(tries < 20 ? 500 : 10000);
	close_cgroup(cgroup);
}

void close_cgroup(const struct cgroup *cgroup)
{
	struct cgroup copy = *cgroup;

	close_descriptor(&copy.parent);
	close_descriptor(&copy.folder);
}

uint64_t read_cgroup(const struct cgroup *cgroup, const char *file, const char *field)
{
	char text[1024] = "\n";

	CLOSE_ON_RETURN int fd = cgroup->folder < 0 ? -1 : openat(cgroup->folder, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text + 1, sizeof text - 2) <= 0)
		return 0;
	if (!field)
		return strtoull(text + 1, NULL, 10);
	/* Lines of a word and a number; `oom` must not be taken for `oom_kill`. */
	for (const char *line = text; (line = strchr(line, '\n')); line++) {
		size_t length = strlen(field);
		if (strncmp(line + 1, field, length) == 0 && line[1 + length] == ' ')
			return strtoull(line + 1 + length, NULL, 10);
	}
	return 0;
}
