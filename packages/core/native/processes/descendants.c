/*
 * Who descends from a process, and what they use together, by /proc.
 *
 * A tool decides how many and how deep they are, so that nothing here recurses or has a fixed size. Some kernels have
 * no lists of children; there everybody's parent is looked up instead.
 */
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/memory.h"

#include <sys/wait.h>

struct process {
	pid_t pid, parent;
};

struct processes {
	struct process *at;
	size_t count;
	bool incomplete; /* for want of memory */
	visit_process *visit; /* or NULL */
	void *context;
};

static void add(struct processes *list, pid_t pid, pid_t parent)
{
	/* Before its children are looked for: a process that the visit stops makes no more. */
	if (list->visit)
		list->visit(pid, list->context);
	struct process *larger = try_to_grow(list->at, list->count, sizeof *list->at);
	list->incomplete = list->incomplete || !larger;
	if (!larger)
		return;
	list->at = larger;
	list->at[list->count++] = (struct process){ pid, parent };
}

/* The list is of any length, and the end of a buffer may cut a number in two. */
static void add_children_of(const char *thread, pid_t parent, void *context)
{
	char path[96], text[4096];
	pid_t pid = 0;

	snprintf(path, sizeof path, "%s/children", thread);
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (ssize_t got; fd >= 0 && (got = read(fd, text, sizeof text)) > 0;) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid)
				add(context, pid, parent);
			pid = 0;
		}
	}
}

bool each_thread(pid_t pid, visit_thread *visit, void *context)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	CLOSE_FOLDER_ON_RETURN DIR *threads = opendir(path);
	if (!threads && errno == ENOMEM) {
		snprintf(path, sizeof path, "/proc/%d/task/%d", pid, pid);
		visit(path, pid, context);
		return false;
	}
	for (struct dirent *thread; (thread = next_entry(threads));) {
		snprintf(path, sizeof path, "/proc/%d/task/%.16s", pid, thread->d_name);
		visit(path, pid, context);
	}
	return true;
}

static bool has_lists_of_children(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
	return access(path, R_OK) == 0;
}

static void add_everybody(struct processes *list)
{
	CLOSE_FOLDER_ON_RETURN DIR *folder = opendir("/proc");

	for (struct dirent *entry; (entry = next_entry(folder));) {
		char text[1024];
		int parent = 0;
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		read_proc(text, sizeof text, "/proc/%.16s/stat", entry->d_name);
		const char *behind_name = strrchr(text, ')');
		if (behind_name && sscanf(behind_name, ") %*c %d", &parent) == 1)
			add(list, atoi(entry->d_name), parent);
	}
}

/* False when memory was missing: then descendants of those that were visited may be left out. */
static bool visit_descendants(pid_t root, visit_process *visit, void *context)
{
	struct processes found = { .visit = visit, .context = context }, everybody = { 0 };
	bool listed = has_lists_of_children(root);

	if (!listed)
		add_everybody(&everybody);
	for (size_t i = 0; i <= found.count; i++) {
		pid_t pid = i == 0 ? root : found.at[i - 1].pid;
		if (listed && !each_thread(pid, add_children_of, &found))
			found.incomplete = true;
		for (size_t j = 0; j < everybody.count; j++)
			if (everybody.at[j].parent == pid)
				add(&found, everybody.at[j].pid, pid);
	}
	free(found.at);
	free(everybody.at);
	return !found.incomplete && !everybody.incomplete;
}

void each_descendant(pid_t root, visit_process *visit, void *context)
{
	if (!visit_descendants(root, visit, context))
		out_of_memory();
}

bool each_descriptor(pid_t pid, visit_descriptor *visit, void *context)
{
	char folder[64], target[64];

	snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
	CLOSE_FOLDER_ON_RETURN DIR *descriptors = opendir(folder);
	for (struct dirent *entry; (entry = next_entry(descriptors));) {
		ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof target - 1);
		if (length <= 0)
			continue;
		target[length] = '\0';
		visit(pid, entry->d_name, target, context);
	}
	return descriptors;
}

struct killing {
	const pid_t *except;
	size_t except_count;
	int signal;
	unsigned count;
};

static void kill_one(pid_t pid, void *context)
{
	struct killing *killing = context;

	for (size_t i = 0; i < killing->except_count; i++)
		if (killing->except[i] == pid)
			return;
	if (kill(pid, killing->signal) == 0)
		killing->count++;
}

void kill_descendants(pid_t root, const pid_t *except, size_t except_count)
{
	/* Stopped first, so that none forks away while the others die; repeated, because one may have. */
	for (;;) {
		struct killing stop = { except, except_count, SIGSTOP, 0 }, end = { except, except_count, SIGKILL, 0 };
		/* Without memory at least the children of `root`. What they leave comes to it and is found next. */
		visit_descendants(root, kill_one, &stop);
		visit_descendants(root, kill_one, &end);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* a copier, too: it is waited for by number later, and then simply gone */
		if (end.count == 0)
			return;
		usleep(200);
	}
}

static void measure_one(pid_t pid, void *context)
{
	struct consumption *sum = context;
	char text[4096];
	unsigned long user, system, children_user, children_system;

	if (read_proc(text, sizeof text, "/proc/%d/status", pid) == 0)
		return;
	uint64_t most = field_of(text, "\nVmHWM:");
	sum->largest = most > sum->largest ? most : sum->largest;
	sum->tasks += strstr(text, "\nThreads:") ? field_of(text, "\nThreads:") : 1;
	sum->resident += 1024 * (field_of(text, "\nVmRSS:") + field_of(text, "\nVmPTE:") + field_of(text, "\nVmSwap:"));
	read_proc(text, sizeof text, "/proc/%d/stat", pid);
	const char *behind_name = strrchr(text, ')');
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

struct consumption measure_descendants(pid_t root)
{
	struct consumption sum = { 0 }, own = { 0 };

	each_descendant(root, measure_one, &sum);
	/* Of orphans that the root itself has waited for. Its own time is little. */
	measure_one(root, &own);
	sum.cpu += own.cpu;
	return sum;
}
