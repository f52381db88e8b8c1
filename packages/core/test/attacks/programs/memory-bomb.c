/*
 * Takes GOAL megabytes of memory, keeps them for a few seconds, and stops.
 *
 *   memory-bomb anonymous|shared|memfd|file|page-tables|children|in-flight|sockets|pipes GOAL [FOLDER]
 *
 * `file` fills a file in FOLDER (a tmpfs is memory); `children` shares the goal
 * among eight processes, so that no limit per process sees it; `page-tables`
 * maps the zero page everywhere, which counts as nobody's resident memory;
 * `in-flight` memory files lie in the queue of a socket, open in no process;
 * `sockets` and `pipes` leave the bytes in the kernel.
 */
#include "route.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define MEGABYTE (1l << 20)

static const char *folder;

static int take_anonymous(long megabytes, int flags)
{
	for (long i = 0; i < megabytes; i++) {
		char *bytes = mmap(NULL, MEGABYTE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
		if (bytes == MAP_FAILED) return errno;
		memset(bytes, 1, MEGABYTE);
	}
	return 0;
}

static int fill(int fd, long megabytes)
{
	static char block[MEGABYTE];
	memset(block, 1, sizeof block);
	for (long done = 0; done < megabytes * MEGABYTE;) {
		ssize_t length = write(fd, block, sizeof block);
		if (length <= 0) return errno ? errno : ENOSPC;
		done += length;
	}
	return 0;
}

static int take_memfd(long megabytes)
{
	int fd = (int)syscall(SYS_memfd_create, "bomb", 0);
	TRY(fd);
	return fill(fd, megabytes);
}

static int take_file(long megabytes)
{
	int fd = open(path_of("%s/filler", folder), O_CREAT | O_WRONLY, 0600), error;
	TRY(fd);
	/* Unlinked: it takes space where no listing shows it. */
	unlink(path_of("%s/filler", folder));
	error = fill(fd, megabytes);
	note("filled to %ld MB", (long)(lseek(fd, 0, SEEK_CUR) / MEGABYTE));
	return error;
}

/* One page of tables (4 KB) for each 2 MB that is touched. */
static int take_page_tables(long megabytes)
{
	size_t span = 1ul << 30;
	for (long done = 0; done < megabytes * 256; done += 512) {
		volatile char *region = mmap(NULL, span, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (region == MAP_FAILED) return errno;
		madvise((void *)region, span, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < span; at += 2 * MEGABYTE) (void)region[at];
	}
	return 0;
}

static int take_by_children(long megabytes)
{
	int failed = 0;
	for (int i = 0; i < 8; i++) {
		pid_t child = fork();
		TRY(child);
		if (child == 0) {
			int error = take_anonymous(megabytes / 8, MAP_PRIVATE);
			sleep(error ? 0 : 2);
			_exit(error ? 1 : 0);
		}
	}
	for (int status; wait(&status) > 0;) failed += status != 0;
	note("%d of 8 children failed", failed);
	return failed ? ENOMEM : 0;
}

static int take_in_flight(long megabytes)
{
	int pair[2];
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (long taken = 0; taken < megabytes; taken += 16) {
		union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = {0};
		struct iovec byte = { "x", 1 };
		struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
		int fd = (int)syscall(SYS_memfd_create, "bomb", 0), error;
		TRY(fd);
		error = fill(fd, 16);
		if (error) return error;
		control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
		TRY(sendmsg(pair[0], &message, 0));
		close(fd);
	}
	return 0;
}

static int take_sockets(long megabytes)
{
	static char block[65536];
	struct rlimit many = { 0, 0 };
	long taken = 0;
	getrlimit(RLIMIT_NOFILE, &many);
	many.rlim_cur = many.rlim_max;
	setrlimit(RLIMIT_NOFILE, &many);
	while (taken < megabytes * MEGABYTE) {
		int pair[2], room = 4 << 20;
		ssize_t length;
		TRY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
		setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
		while ((length = write(pair[0], block, sizeof block)) > 0) taken += length;
	}
	return 0;
}

static int take_pipes(long megabytes)
{
	static char block[65536];
	struct rlimit many = { 0, 0 };
	long taken = 0;
	getrlimit(RLIMIT_NOFILE, &many);
	many.rlim_cur = many.rlim_max;
	setrlimit(RLIMIT_NOFILE, &many);
	while (taken < megabytes * MEGABYTE) {
		int ends[2];
		ssize_t length, before = taken;
		TRY(pipe2(ends, O_NONBLOCK));
		fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
		while ((length = write(ends[1], block, sizeof block)) > 0) taken += length;
		if (taken == before) return errno;
	}
	return 0;
}

static long goal;
static const char *kind;

static int bomb(void)
{
	alarm(0);
	if (strcmp(kind, "anonymous") == 0) return take_anonymous(goal, MAP_PRIVATE);
	if (strcmp(kind, "shared") == 0) return take_anonymous(goal, MAP_SHARED);
	if (strcmp(kind, "memfd") == 0) return take_memfd(goal);
	if (strcmp(kind, "file") == 0) return take_file(goal);
	if (strcmp(kind, "page-tables") == 0) return take_page_tables(goal);
	if (strcmp(kind, "children") == 0) return take_by_children(goal);
	if (strcmp(kind, "in-flight") == 0) return take_in_flight(goal);
	if (strcmp(kind, "sockets") == 0) return take_sockets(goal);
	return take_pipes(goal);
}

/* Held for a while: a limit that is watched rather than enforced gets its chance to act. */
static int bomb_and_hold(void)
{
	int error = bomb();
	if (error == 0) sleep(2);
	return error;
}

int main(int count, char **words)
{
	if (count < 3) return 64;
	kind = words[1];
	goal = strtol(words[2], NULL, 10);
	folder = count > 3 ? words[3] : "/tmp";
	route(kind, bomb_and_hold);
	return 0;
}
