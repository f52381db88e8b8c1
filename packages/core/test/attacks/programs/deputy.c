/*
 * A supervisor that carries out calls for the tool must see paths, descriptors
 * and the working directory as the tool sees them, or it becomes the tool's
 * deputy on objects of its own. Usage: deputy SCRATCH
 * Every path here means nothing, or something ungranted, to the tool itself.
 */
#include "route.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

static const struct timespec long_ago[2] = { { .tv_sec = 86400 }, { .tv_sec = 86400 } };
static const char *subject;

/* Any of the ways that a supervisor may offer. To what is there already: success is proof enough, and harms nobody. */
static int change(const char *path)
{
	struct stat facts = { .st_mode = 0755, .st_uid = getuid(), .st_gid = getgid() };
	bool visible = stat(path, &facts) == 0;
	struct timespec times[2] = { facts.st_atim, facts.st_mtim };
	int last;
	if (chmod(path, facts.st_mode & 07777) == 0) return note("chmod %s", path), 0;
	last = errno;
	if (chown(path, facts.st_uid, facts.st_gid) == 0) return note("chown %s", path), 0;
	if (visible && utimensat(AT_FDCWD, path, times, 0) == 0) return note("utimensat %s", path), 0;
	if (!visible && setxattr(path, "user.planted", "x", 1, 0) == 0) return note("setxattr %s", path), 0;
	return last;
}

static int change_subject(void) { return change(subject); }

static int change_descriptors(void)
{
	int last = ENOENT;
	for (int fd = 3; fd < 256; fd++) {
		if (fcntl(fd, F_GETFD) >= 0) continue; /* one of our own */
		last = change(path_of("/proc/self/fd/%d", fd));
		if (last == 0) return 0;
	}
	return last;
}

static int change_relative_to_descriptors(void)
{
	int last = EBADF;
	for (int fd = 3; fd < 256; fd++) {
		if (fcntl(fd, F_GETFD) >= 0) continue;
		if (fchmodat(fd, ".", 0755, 0) == 0) return note("fchmodat of %d", fd), 0;
		if (errno != EBADF) last = errno, note("descriptor %d answers %s", fd, error_name(errno));
		if (utimensat(fd, "", long_ago, AT_EMPTY_PATH) == 0) return note("utimensat of %d", fd), 0;
		if (fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH) == 0) return note("fchownat of %d", fd), 0;
	}
	return last;
}

static int change_raw_descriptors(void)
{
	int last = EBADF;
	for (int fd = 3; fd < 256; fd++) {
		if (fcntl(fd, F_GETFD) >= 0) continue;
		if (fchmod(fd, 0755) == 0) return note("fchmod of %d", fd), 0;
		if (fsetxattr(fd, "user.planted", "x", 1, 0) == 0) return note("fsetxattr of %d", fd), 0;
		last = errno;
	}
	return last;
}

static int connect_descriptors(void)
{
	int last = ENOENT;
	for (int fd = 3; fd < 64; fd++) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };
		int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		TRY(own);
		snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", fd);
		if (fd != own && connect(own, (struct sockaddr *)&address, sizeof address) == 0) return 0;
		last = errno;
		close(own);
	}
	return last;
}

/* A path that ends exactly at unmapped memory, or never ends. */
static int endless_path(void)
{
	char *path = malloc(1 << 20);
	memset(path, 'a', 1 << 20);
	path[0] = '/';
	return chmod(path, 0777) == 0 ? 0 : errno;
}

static int bad_pointer(void) { return syscall(SYS_fchmodat, AT_FDCWD, (char *)8, 0777) == 0 ? 0 : errno; }
static int empty_path(void) { return chmod("", 0777) == 0 ? 0 : errno; }

int main(int count, char **words)
{
	static const char *const subjects[] = {
		"/proc/self/exe", "/proc/thread-self/exe", "/proc/self/root", "/proc/self/root/", "/proc/self/task", "/proc/self/cwd/..",
		"/proc/1/exe", "/proc/1/root", "/proc/1/cwd", "/", "/usr", "/usr/bin/env", "/etc/passwd", "/etc", "/dev", "/dev/null", "/proc",
		"/proc/self/mem", "/lib", "..", "../..", "../../..",
	};
	if (count != 2) return 64;
	if (chdir(words[1]) < 0) unable(words[1]);
	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) route(subject = subjects[i], change_subject);
	route("proc-self-fd", change_descriptors);
	route("dirfd", change_relative_to_descriptors);
	route("raw-fd", change_raw_descriptors);
	route("connect-proc-self-fd", connect_descriptors);
	route("endless-path", endless_path);
	route("bad-pointer", bad_pointer);
	route("empty-path", empty_path);
	return 0;
}
