/*
 * The tool's streams, before there is a tool; and the copiers of those that it must not hold itself.
 *
 * A descriptor carries more rights than its bytes. With the caller's file as stdin or stdout a tool could change its
 * mode and times, or cut it short. The pipe that it writes to it could open anew, and read what others wrote. So a
 * process of ours copies between those and a pipe of the cell.
 *
 * Handed over as they are: Unix streams, which cannot be opened anew, and a pipe as stdin, because a copier reads
 * ahead, and what the tool leaves unread belongs to the next command (`… | while read x; do cordon run …; done`).
 */
#include "supervisor/streams/open-stdio.h"
#include "supervisor/streams/terminal.h"
#include "wire/frames.h"
#include "wire/report.h"

#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

/* A socket of the internet would be one of the host's network, and a datagram can be sent to anybody. */
static bool is_local_stream(int fd)
{
	int domain = 0, type = 0;
	socklen_t length = sizeof domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

static bool may_be_held(int fd, int number)
{
	struct stat status;

	return fstat(fd, &status) < 0 || (S_ISSOCK(status.st_mode) && is_local_stream(fd)) ||
	       (number == 0 && S_ISFIFO(status.st_mode));
}

static bool is_same_file(int one, int other)
{
	struct stat left, right;

	return fstat(one, &left) == 0 && fstat(other, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

static bool is_regular(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_null_device(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
	(void)signal;
	ended = 1;
}

/*
 * A file as stdin: its position is left behind what the tool read, for the next reader (`while read x; do cordon run …;
 * done < list`). `reader` is the other end of the tool's pipe, which tells how much was not read.
 */
static void copy_file(int file, int to, int reader)
{
	char bytes[STREAM_BUFFER];
	struct pollfd room = { .fd = to, .events = POLLOUT };
	off_t start = lseek(file, 0, SEEK_CUR), written = 0;
	sigset_t none;
	int unread = 0;

	sigemptyset(&none);
	fcntl(to, F_SETFL, O_NONBLOCK);
	while (!ended) {
		if (ppoll(&room, 1, NULL, &none) < 0)
			continue;
		ssize_t got = pread(file, bytes, sizeof bytes, start + written);
		if (got <= 0)
			break;
		ssize_t put = write(to, bytes, got);
		written += put > 0 ? put : 0;
	}
	close(to);
	while (!ended)
		sigsuspend(&none);
	/* The tool can write to its pipe, too: what it says was not read is not more than was sent. */
	if (ioctl(reader, FIONREAD, &unread) == 0)
		lseek(file, start + (unread < written ? written - unread : 0), SEEK_SET);
}

static void copy(int from, int to)
{
	char bytes[STREAM_BUFFER];
	ssize_t got;

	while ((got = read(from, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0 && !write_fully(to, bytes, got))
			break;
}

static _Noreturn void serve_as_copier(int number, int fd, const int ends[2])
{
	bool input = number == 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* Nothing else that is open here is this process's to keep open. */
	if (dup2(input ? fd : ends[0], 0) < 0 || dup2(input ? ends[1] : fd, 1) < 0)
		_exit(1);
	if (input && is_regular(0)) {
		if (dup2(ends[0], 2) < 0 || close_range(3, ~0U, 0) < 0)
			_exit(1);
		copy_file(0, 1, 2);
	} else if (close_range(2, ~0U, 0) == 0) {
		copy(0, 1);
	}
	_exit(0);
}

static int take_caller_stream(int number, struct copiers *copiers)
{
	int ends[2];
	int fd = fcntl(number, F_DUPFD_CLOEXEC, FIRST_OF_OURS);

	if (fd < 0)
		die("stdio", NULL);
	if (may_be_held(fd, number))
		return fd;
	if (pipe2(ends, O_CLOEXEC) < 0)
		die("stdio", "pipe");
	bool input = number == 0;
	if (input && is_null_device(fd)) {
		/* Nothing to copy: the pipe is at its end. */
		close(fd);
		close(ends[1]);
		return ends[0];
	}
	sigset_t end, before;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	/* Before it exists: the signal may come before the copier waits for it. */
	sigprocmask(SIG_BLOCK, &end, &before);
	pid_t copier = fork();
	if (copier < 0)
		die("stdio", "fork");
	if (copier == 0) {
		signal(SIGTERM, note_end);
		serve_as_copier(number, fd, ends);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	copiers->pids[number] = copier;
	copiers->gives_back = copiers->gives_back || (input && is_regular(fd));
	close(fd);
	close(ends[input ? 1 : 0]);
	return ends[input ? 0 : 1];
}

void open_stdio(const struct plan *plan, struct stdio *tool, struct stdio *own, struct copiers *copiers)
{
	bool inherited = false;

	*tool = *own = (struct stdio){ { -1, -1, -1 }, -1 };
	own->terminal = find_caller_terminal(plan);
	for (int i = 0; i < 3; i++) {
		int ends[2];
		inherited = inherited || plan->streams[i] != STREAM_FRAMES;
		if (plan->streams[i] == STREAM_DIRECT) {
			/* `> log 2>&1`: through one pipe, or what it says would come in another order. */
			bool joined = i == 2 && copiers->pids[1] > 0 && is_same_file(1, 2);
			tool->at[i] = joined ? fcntl(tool->at[1], F_DUPFD_CLOEXEC, FIRST_OF_OURS)
					     : take_caller_stream(i, copiers);
		} else if (plan->streams[i] == STREAM_FRAMES) {
			if (pipe2(ends, O_CLOEXEC) < 0)
				die("stdio", NULL);
			tool->at[i] = ends[i == 0 ? 0 : 1];
			own->at[i] = ends[i == 0 ? 1 : 0];
		}
	}
	if (own->at[0] >= 0)
		fcntl(own->at[0], F_SETFL, O_NONBLOCK);
	if (own->at[1] >= 0)
		fcntl(own->at[1], F_SETPIPE_SZ, STREAM_BUFFER); /* refused when the user has many; it works without */
	if (!inherited)
		return;
	/* Not to keep a pipe open that the tool has closed. */
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0)
		die("stdio", "/dev/null");
	close(nowhere);
}

/* Reaped already where the descendants were: then the number may be somebody else's by now. */
static void end_copier(pid_t copier, int signal)
{
	if (copier <= 0 || waitpid(copier, NULL, WNOHANG) != 0)
		return;
	kill(copier, signal);
	waitpid(copier, NULL, 0);
}

void finish_input(const struct copiers *copiers)
{
	/* Input that nobody reads any more need not be read to its end. */
	end_copier(copiers->pids[0], copiers->gives_back ? SIGTERM : SIGKILL);
}

void end_copiers(const struct copiers *copiers)
{
	end_copier(copiers->pids[1], SIGKILL);
	end_copier(copiers->pids[2], SIGKILL);
}
