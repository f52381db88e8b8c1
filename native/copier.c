/*
 * Streams of the caller that the tool must not hold itself.
 *
 * A descriptor carries more rights than its bytes: with the caller's file as
 * stdin or stdout a tool could change its mode and times, or cut it short. Pipes
 * and sockets have nothing of that kind and are handed over as they are; for
 * everything else a process of ours copies between it and a pipe.
 */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_plain_channel(int fd)
{
	struct stat status;

	return fstat(fd, &status) < 0 || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

bool is_same_file(int one, int other)
{
	struct stat left, right;

	return fstat(one, &left) == 0 && fstat(other, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

static _Noreturn void copy(int from, int to)
{
	static char bytes[STREAM_BUFFER];
	ssize_t got;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* Nothing else that is open here is this process's to keep open. */
	if (dup2(from, 0) < 0 || dup2(to, 1) < 0 || close_range(2, ~0U, 0) < 0)
		_exit(1);
	while ((got = read(0, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0 && !write_fully(1, bytes, got))
			break;
	_exit(0);
}

int take_caller_stream(int number, struct copiers *copiers)
{
	int ends[2];
	int fd = fcntl(number, F_DUPFD_CLOEXEC, 4);

	if (fd < 0)
		die("stdio", NULL);
	if (is_plain_channel(fd))
		return fd;
	if (pipe2(ends, O_CLOEXEC) < 0)
		die("stdio", "pipe");
	bool input = number == 0;
	pid_t copier = fork();
	if (copier < 0)
		die("stdio", "fork");
	if (copier == 0)
		copy(input ? fd : ends[0], input ? ends[1] : fd);
	copiers->pids[number] = copier;
	close(fd);
	close(ends[input ? 1 : 0]);
	return ends[input ? 0 : 1];
}

void finish_copiers(const struct copiers *copiers)
{
	/* Input that nobody reads any more need not be read to its end; output must be written to its end. */
	if (copiers->pids[0] > 0)
		kill(copiers->pids[0], SIGKILL);
	for (int i = 0; i < 3; i++)
		if (copiers->pids[i] > 0)
			waitpid(copiers->pids[i], NULL, 0);
}

bool is_copier(const struct copiers *copiers, pid_t pid)
{
	return copiers && (pid == copiers->pids[0] || pid == copiers->pids[1] || pid == copiers->pids[2]);
}
