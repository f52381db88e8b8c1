/*
 * Trapped system calls of the tool, answered by the keeper.
 *
 * Arguments behind a pointer can change between a look and the kernel's own
 * reading. So a call that is decided here is also carried out here, on our copy
 * of the argument and on the tool's own object; it is let through (CONTINUE)
 * only where something else in the kernel decides and we merely watch.
 */
#include "wire/cell.h"
#include "boundary/filter.h"
#include "wire/kernel.h"
#include "keeper/notify.h"
#include "keeper/network/nested.h"

#include <errno.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

bool still_waiting(const struct notification *call)
{
	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->request->id) == 0;
}

void respond(const struct notification *call, int64_t value, int error)
{
	struct seccomp_notif_resp response = { .id = call->request->id, .val = value, .error = -error };

	/* ENOENT: the tool was killed meanwhile. */
	(void)!ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void let_through(const struct notification *call)
{
	struct seccomp_notif_resp response = { .id = call->request->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	(void)!ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

bool read_tool_memory(const struct notification *call, uint64_t address, void *into, size_t length)
{
	struct iovec local = { into, length }, remote = { (void *)address, length };

	if (process_vm_readv(call->request->pid, &local, 1, &remote, 1, 0) != (ssize_t)length) {
		/* Some containers refuse the call; the file asks the same question. */
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/mem", number_in_proc(call->request->pid));
		CLOSE_ON_RETURN int memory = open(path, O_RDONLY | O_CLOEXEC);
		if (memory < 0 || pread(memory, into, length, address) != (ssize_t)length)
			return false;
	}
	/* The number may have been given to another process since; then these are not the tool's bytes. */
	return still_waiting(call);
}

bool read_tool_string(const struct notification *call, uint64_t address, char *into, size_t room)
{
	size_t at = 0;

	/* Page by page: what lies behind the string's end may not be mapped. */
	while (at < room) {
		size_t step = 4096 - ((address + at) & 4095);
		if (step > room - at)
			step = room - at;
		if (!read_tool_memory(call, address + at, into + at, step))
			return false;
		if (memchr(into + at, '\0', step))
			return true;
		at += step;
	}
	return false; /* longer than any path */
}

/* A duplicate of the tool's descriptor: the same open file, so that what we do to it happens to the tool's. */
int borrow_descriptor(const struct notification *call, int descriptor)
{
	CLOSE_ON_RETURN int process = syscall(SYS_pidfd_open, call->request->pid, 0);

	/* A thread that is not its process's first: pidfd_open takes the first. */
	if (process < 0 && (errno == EINVAL || errno == ENOENT))
		process = syscall(SYS_pidfd_open, process_of_thread(call->request->pid), 0);
	if (process < 0 || !still_waiting(call))
		return -1;
	return syscall(SYS_pidfd_getfd, process, descriptor, 0);
}

int open_tool_directory(const struct notification *call, int at)
{
	char path[64];

	if (at == AT_FDCWD)
		snprintf(path, sizeof path, "/proc/%d/cwd", number_in_proc(call->request->pid));
	else
		snprintf(path, sizeof path, "/proc/%d/fd/%d", number_in_proc(call->request->pid), at);
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0 && !still_waiting(call)) {
		close(fd);
		errno = ESRCH;
		return -1;
	}
	return fd;
}

bool path_of_descriptor(int fd, char *into, size_t room)
{
	char link[64];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, into, room - 1);
	if (length < 0)
		return false;
	into[length] = '\0';
	return into[0] == '/';
}

bool is_beneath(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/' || length == 1);
}

static bool worth_telling(struct told *told, const char *kind, const char *fields)
{
	uint64_t hash = 1469598103934665603u;

	for (const char *parts[] = { kind, " ", fields }, **part = parts; part < parts + 3; part++)
		for (const char *c = *part; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	for (size_t i = 0; i < told->count; i++)
		if (told->at[i] == hash)
			return false;
	if (told->count == MOST_TOLD)
		return false;
	told->at[told->count++] = hash;
	return true;
}

void report_violation(const struct notification *call, const char *kind, const char *fields)
{
	static struct told of_cell;
	struct told *of_nested = call->broker ? call->broker->told : NULL;
	char line[3800];

	if (!worth_telling(of_nested ? of_nested : &of_cell, kind, fields))
		return;
	snprintf(line, sizeof line, "{\"event\":\"violation\",\"kind\":\"%s\",%s}", kind, fields);
	/* A cell inside may be gone, or not listen: that is its own loss. */
	if (!offer_packet(call->supervisor, PACKET_EVENT, 0, line, -1) && !of_nested)
		_exit(EXIT_REFUSED);
}

void report_path_violation(const struct notification *call, const char *kind, const char *path)
{
	char escaped[3000], fields[3100];

	json_escape(escaped, sizeof escaped, path);
	snprintf(fields, sizeof fields, "\"path\":\"%s\"", escaped);
	report_violation(call, kind, fields);
}

/* Processes and threads are counted here because nothing else counts both, for every user, in every form. */
static void answer_fork(const struct notification *call)
{
	static uint64_t assumed; /* never less than what is alive: births are counted, deaths only when it matters */
	static bool reported;
	uint64_t limit = call->plan->limits.processes;

	if (assumed + 1 > limit || assumed == 0) {
		struct consumption now;
		measure_descendants(own_pid_in_proc(), &now);
		assumed = now.tasks;
	}
	if (assumed + 1 > limit) {
		char fields[128];
		snprintf(fields, sizeof fields, "\"limit\":%llu,\"used\":%llu,\"effect\":\"refused\"", (unsigned long long)limit,
			 (unsigned long long)assumed + 1);
		if (!reported)
			report_violation(call, "processes", fields);
		reported = true;
		respond(call, 0, EAGAIN);
		return;
	}
	assumed++;
	let_through(call);
}

/* The tool's path as an object; /proc/self in it is the tool, not us. -1 with errno. */
int open_tool_path(const struct notification *call, int at, const char *path, int flags)
{
	char own[PATH_MAX];

	if (strncmp(path, "/proc/self/", 11) == 0) {
		/* Followed by the kernel to the object itself, which is what we judge. */
		snprintf(own, sizeof own, "/proc/%d/%s", number_in_proc(call->request->pid), path + 11);
		int object = open(own, O_PATH | O_CLOEXEC | flags);
		if (object >= 0 && !still_waiting(call)) {
			close(object);
			errno = ESRCH;
			return -1;
		}
		return object;
	}
	CLOSE_ON_RETURN int folder = path[0] == '/' ? -1 : open_tool_directory(call, at);
	if (path[0] != '/' && folder < 0)
		return -1;
	return open_how(path[0] == '/' ? AT_FDCWD : folder, path, O_PATH | flags, CORDON_RESOLVE_NO_MAGICLINKS);
}

/*
 * Landlock decides which files may be executed. One thing it cannot tell apart:
 * the dynamic loader must be executable for the kernel to use it, and would then
 * run any program that it is given as an argument. That is refused here. (Whoever
 * can race this look with a second thread runs native code already, and needs no
 * loader to run more.)
 */
static void answer_execute(const struct notification *call)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (!read_tool_string(call, call->request->data.args[0], path, sizeof path)) {
		respond(call, 0, EFAULT);
		return;
	}
	CLOSE_ON_RETURN int object = open_tool_path(call, AT_FDCWD, path, 0);
	if (object < 0) {
		respond(call, 0, errno);
		return;
	}
	if (path_of_descriptor(object, real, sizeof real))
		for (size_t i = 0; i < call->plan->program_count; i++)
			if (strcmp(real, call->plan->programs[i]) == 0) {
				let_through(call);
				return;
			}
	report_path_violation(call, "exec", path);
	respond(call, 0, EACCES);
}

/* What would be carried out here for the tool of this cell is for the kernel to decide where a cell inside it asks. */
static void answer_own(const struct notification *call, void (*answer)(const struct notification *call))
{
	if (!answer_nested_file(call))
		answer(call);
}

static void answer_emptying(const struct notification *call)
{
	answer_metadata(call);
}

void answer_notification(const struct plan *plan, int listener, int supervisor, struct broker *broker, struct nest *nest)
{
	struct seccomp_notif request = { 0 };
	struct notification call = { plan, &request, listener, supervisor, broker, nest };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return; /* the tool was killed between poll and here */
	switch (request.data.nr) {
	case SYS_clone:
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
#endif
		answer_fork(&call);
		break;
	case SYS_execve:
		answer_execute(&call);
		break;
	case SYS_memfd_create:
		answer_memory_file(&call);
		break;
	case SYS_mmap:
		answer_shared_mapping(&call);
		break;
	case SYS_connect:
		answer_connect(&call);
		break;
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_pidfd_send_signal:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
		answer_signal(&call);
		break;
	case SYS_socket:
		answer_socket(&call);
		break;
	case SYS_inotify_init1:
#ifdef SYS_inotify_init
	case SYS_inotify_init:
#endif
		answer_inotify(&call);
		break;
	case SYS_bind:
		answer_own(&call, answer_bind);
		break;
	case SYS_ioctl:
		answer_ioctl(&call);
		break;
	case SYS_socketpair:
		answer_socket_pair(&call);
		break;
	case SYS_listen:
		answer_listen(&call);
		break;
	case SYS_openat:
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
#endif
		answer_own(&call, answer_open);
		break;
	case SYS_unlinkat:
	case SYS_renameat2:
	case SYS_mkdirat:
	case SYS_linkat:
	case SYS_symlinkat:
	case SYS_mknodat:
#ifdef SYS_renameat
	case SYS_renameat:
#endif
#ifdef SYS_rename
	case SYS_rename:
	case SYS_unlink:
	case SYS_rmdir:
	case SYS_mkdir:
	case SYS_link:
	case SYS_symlink:
	case SYS_mknod:
#endif
		answer_own(&call, answer_change);
		break;
	case SYS_truncate:
		answer_own(&call, landlock_is_before(plan, 3) || plan->kept_count ? answer_emptying : answer_change);
		break;
	default:
		if (answer_metadata(&call))
			break;
		/* Trapped by the filter and forgotten here: not there, rather than let through. */
		respond(&call, 0, ENOSYS);
	}
}
