/*
 * Who descends from a process, by /proc.
 *
 * A tool decides how many and how deep they are, so that nothing here recurses
 * or has a fixed size. Some kernels are built without the lists of children;
 * there everybody's parent is looked up instead.
 */
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/memory.h"
#include "wire/scope.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct process {
	pid_t pid, parent;
};

struct processes {
	struct process *at;
	size_t count;
};

static void add(struct processes *list, pid_t pid, pid_t parent)
{
	list->at = grow(list->at, list->count, sizeof *list->at);
	list->at[list->count++] = (struct process){ pid, parent };
}

/* The numbers in a list of any length; one may be cut in two by the end of a buffer. */
static void add_listed(struct processes *list, const char *path, pid_t parent)
{
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	pid_t pid = 0;

	for (ssize_t got; fd >= 0 && (got = read(fd, text, sizeof text)) > 0;) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid)
				add(list, pid, parent);
			pid = 0;
		}
	}
}

void each_thread(pid_t pid, visit_thread *visit, void *context)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *threads = opendir(path);
	for (struct dirent *thread; threads && (thread = readdir(threads));) {
		if (thread->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%.16s", pid, thread->d_name);
		visit(path, pid, context);
	}
	if (threads)
		closedir(threads);
}

static void add_children_of(const char *thread, pid_t pid, void *context)
{
	char path[96];

	snprintf(path, sizeof path, "%s/children", thread);
	add_listed(context, path, pid);
}

static bool has_lists_of_children(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

static void add_everybody(struct processes *list)
{
	char path[64], text[1024];
	DIR *folder = opendir("/proc");

	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		int parent = 0;
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%.16s/stat", entry->d_name);
		const char *behind_name = read_stat(text, sizeof text, path);
		if (behind_name && sscanf(behind_name, ") %*c %d", &parent) == 1)
			add(list, atoi(entry->d_name), parent);
	}
	if (folder)
		closedir(folder);
}

void each_descendant(pid_t root, visit_process *visit, void *context)
{
	struct processes found = { 0 }, everybody = { 0 };
	bool listed = has_lists_of_children(root);

	if (!listed)
		add_everybody(&everybody);
	add(&found, root, 0);
	for (size_t i = 0; i < found.count; i++) {
		pid_t pid = found.at[i].pid;
		/* Before its children are looked for: whoever is stopped by the visit makes no more. */
		if (i > 0)
			visit(pid, context);
		if (listed)
			each_thread(pid, add_children_of, &found);
		for (size_t j = 0; j < everybody.count; j++)
			if (everybody.at[j].parent == pid)
				add(&found, everybody.at[j].pid, pid);
	}
	free(found.at);
	free(everybody.at);
}

bool each_descriptor(pid_t pid, visit_descriptor *visit, void *context)
{
	char folder[64], path[128], target[64];

	snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
	DIR *descriptors = opendir(folder);
	if (!descriptors)
		return false;
	for (struct dirent *entry; (entry = readdir(descriptors));) {
		snprintf(path, sizeof path, "%s/%.16s", folder, entry->d_name);
		ssize_t length = readlink(path, target, sizeof target - 1);
		if (length <= 0)
			continue;
		target[length] = '\0';
		visit(pid, entry->d_name, target, context);
	}
	closedir(descriptors);
	return true;
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
		each_descendant(root, kill_one, &stop);
		each_descendant(root, kill_one, &end);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* a copier, too: it is waited for by number later, and then simply gone */
		if (end.count == 0)
			return;
		usleep(200);
	}
}
