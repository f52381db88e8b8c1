/*
 * The numbers of the tool's processes. A cell that must borrow the /proc of an
 * outer pid namespace finds its processes there under other numbers than those
 * in which the kernel speaks of them to the keeper.
 */
#include "wire/cell.h"
#include "keeper/notify.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
	pid_t inside, found;
};

/* Processes list their numbers from the outermost namespace that /proc shows to their own. */
static pid_t innermost_number(const char *status, const char *field)
{
	const char *line = strstr(status, field);
	size_t length = line ? strcspn(line + 1, "\n") + 1 : 0;

	while (length > 0 && line[length - 1] != '\t')
		length--;
	return length ? atoi(line + length) : 0;
}

static void search_threads(pid_t pid, void *context)
{
	struct search *search = context;
	char path[128], text[4096];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *tasks = search->found ? NULL : opendir(path);
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%d/task/%.16s/status", pid, task->d_name);
		if (read_proc(text, sizeof text, path) > 0 && innermost_number(text, "\nNSpid:") == search->inside)
			search->found = atoi(task->d_name);
	}
	if (tasks)
		closedir(tasks);
}

pid_t number_in_proc(pid_t pid)
{
	static pid_t asked, own; /* a question of its own for each process, and the same answer for its whole life */
	struct search search = { .inside = pid };

	if (asked != getpid()) {
		asked = getpid();
		own = own_pid_in_proc();
	}
	if (own == asked)
		return pid;
	each_descendant(own, search_threads, &search);
	return search.found;
}

pid_t process_of_thread(pid_t thread)
{
	char path[64], text[4096];

	snprintf(path, sizeof path, "/proc/%d/status", number_in_proc(thread));
	return read_proc(text, sizeof text, path) > 0 ? innermost_number(text, "\nNStgid:") : 0;
}
