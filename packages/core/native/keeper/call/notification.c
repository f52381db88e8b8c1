/*
 * One trapped system call of the tool: its arguments, the tool's memory and descriptors behind them, and the answer.
 *
 * Arguments behind a pointer can change between a look and the kernel's own reading. So a call that is decided here is
 * also carried out here, on our copy of the argument and on the tool's own object. It is let through only where
 * something else in the kernel decides and we merely watch.
 */
#include "keeper/call/notification.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/hash.h"
#include "wire/kernel.h"
#include "wire/open-how.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <sys/time.h>
#include <sys/uio.h>

bool still_waiting(const struct notification *call)
{
	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->request->id) == 0;
}

void respond(const struct notification *call, int answer)
{
	struct seccomp_notif_resp response = { .id = call->request->id };

	if (answer == ANSWERED)
		return;
	if (answer == LET_THROUGH)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else
		response.error = -answer;
	/* ENOENT: the tool was killed meanwhile. */
	(void)!ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int add_descriptor(const struct notification *call, int descriptor, unsigned how, int place, int flags)
{
	struct seccomp_notif_addfd addition = {
		.id = call->request->id,
		.flags = how,
		.srcfd = descriptor,
		.newfd = place,
		.newfd_flags = flags & O_CLOEXEC,
	};

	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addition);
}

int hand_over(const struct notification *call, int descriptor, int flags)
{
	/* Adding and answering in one step: otherwise a descriptor could stay with a tool that was interrupted. */
	if (add_descriptor(call, descriptor, SECCOMP_ADDFD_FLAG_SEND, 0, flags) >= 0)
		return ANSWERED;
	return errno == EMFILE ? EMFILE : EPERM;
}

/*
 * The numbers of the tool's processes. A cell that must borrow the /proc of an outer pid namespace finds its processes
 * there under other numbers than those in which the kernel speaks of them to the keeper.
 */
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

static void look_at_thread(const char *thread, pid_t pid, void *context)
{
	struct search *search = context;
	char text[4096];

	(void)pid;
	if (!search->found && read_proc(text, sizeof text, "%s/status", thread) > 0 &&
	    innermost_number(text, "\nNSpid:") == search->inside)
		search->found = atoi(strrchr(thread, '/') + 1);
}

static void search_threads(pid_t pid, void *context)
{
	each_thread(pid, look_at_thread, context);
}

static pid_t number_in_proc(const struct notification *call, pid_t pid)
{
	struct search search = { .inside = pid };

	if (!call->keeper_in_proc)
		return pid;
	each_descendant(call->keeper_in_proc, search_threads, &search);
	return search.found;
}

pid_t tool_in_proc(const struct notification *call)
{
	return number_in_proc(call, call->request->pid);
}

pid_t process_of_thread(const struct notification *call, pid_t thread)
{
	char text[4096];

	read_proc(text, sizeof text, "/proc/%d/status", number_in_proc(call, thread));
	return innermost_number(text, "\nNStgid:");
}

bool read_tool_memory(const struct notification *call, uint64_t address, void *into, size_t length)
{
	struct iovec local = { into, length }, remote = { (void *)address, length };

	if (process_vm_readv(call->request->pid, &local, 1, &remote, 1, 0) != (ssize_t)length) {
		/* Some containers refuse the call; the file asks the same question. */
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/mem", tool_in_proc(call));
		CLOSE_ON_RETURN int memory = open(path, O_RDONLY | O_CLOEXEC);
		if (memory < 0 || pread(memory, into, length, address) != (ssize_t)length)
			return false;
	}
	/* The number may have been given to another process since; then these are not the tool's bytes. */
	return still_waiting(call);
}

#define SMALLEST_PAGE 4096

bool read_tool_string(const struct notification *call, uint64_t address, char *into, size_t room)
{
	size_t at = 0;

	/* Page by page: what lies behind the string's end may not be mapped. */
	while (at < room) {
		size_t step = SMALLEST_PAGE - (address + at) % SMALLEST_PAGE;
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

int borrow_descriptor(const struct notification *call, int descriptor)
{
	CLOSE_ON_RETURN int process = (int)syscall(SYS_pidfd_open, call->request->pid, 0);

	/* A thread that is not its process's first: pidfd_open takes the first. */
	if (process < 0 && (errno == EINVAL || errno == ENOENT))
		process = (int)syscall(SYS_pidfd_open, process_of_thread(call, call->request->pid), 0);
	if (process < 0 || !still_waiting(call))
		return -1;
	return (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
}

/* -1 when the object may be that of another process by now. */
static int if_still_waiting(const struct notification *call, int object)
{
	if (object < 0 || still_waiting(call))
		return object;
	close(object);
	errno = ESRCH;
	return -1;
}

int open_tool_directory(const struct notification *call, int at)
{
	char path[64];

	if (at == AT_FDCWD)
		snprintf(path, sizeof path, "/proc/%d/cwd", tool_in_proc(call));
	else
		snprintf(path, sizeof path, "/proc/%d/fd/%d", tool_in_proc(call), at);
	return if_still_waiting(call, open(path, O_PATH | O_CLOEXEC));
}

static void wake(int signal)
{
	(void)signal;
}

void interrupt_after(long first, long then)
{
	const struct sigaction action = { .sa_handler = wake }; /* without SA_RESTART */
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (sigaction(SIGALRM, &action, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &alarm, NULL) < 0 ||
	    setitimer(ITIMER_REAL, &(struct itimerval){ { .tv_usec = then }, { .tv_usec = first } }, NULL) < 0)
		_exit(EXIT_REFUSED);
}

bool path_of_descriptor(int fd, char *into, size_t room)
{
	ssize_t length = readlink(path_to(fd).text, into, room - 1);

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

int open_tool_path(const struct notification *call, int at, const char *path, int flags)
{
	char own[PATH_MAX];

	if (strncmp(path, "/proc/self/", 11) == 0) {
		/* Followed by the kernel to the object itself, which is what we judge. */
		snprintf(own, sizeof own, "/proc/%d/%s", tool_in_proc(call), path + 11);
		return if_still_waiting(call, open(own, O_PATH | O_CLOEXEC | flags));
	}
	CLOSE_ON_RETURN int folder = path[0] == '/' ? -1 : open_tool_directory(call, at);
	if (path[0] != '/' && folder < 0)
		return -1;
	return open_how(path[0] == '/' ? AT_FDCWD : folder, path, O_PATH | flags, RESOLVE_NO_MAGICLINKS);
}

void report_violation(const struct notification *call, const char *kind, const char *fields)
{
	char line[3800];

	snprintf(line, sizeof line, "{\"event\":\"violation\",\"kind\":\"%s\",%s}", kind, fields);
	if (!is_first_sight(call->told->at, &call->told->count, MOST_TOLD, line))
		return;
	/* A cell inside may be gone, or not listen: that is its own loss. */
	if (!offer_packet(call->supervisor, PACKET_EVENT, 0, line, -1) && !call->told->of_nested)
		_exit(EXIT_REFUSED);
}

void report_path_violation(const struct notification *call, const char *kind, const char *path)
{
	char escaped[3000], fields[3100];

	json_escape(escaped, sizeof escaped, path);
	snprintf(fields, sizeof fields, "\"path\":\"%s\"", escaped);
	report_violation(call, kind, fields);
}
