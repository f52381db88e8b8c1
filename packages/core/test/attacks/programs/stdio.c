/*
 * Uses its standard descriptors for more than they were given for. When stdin
 * is a file of the caller's, opened for reading, the file is neither granted
 * for writing nor for changing. Usage: stdio FD
 */
#include "route.h"
#include <sys/mman.h>
#include <sys/xattr.h>

static int fd;

static char *magic(void) { return path_of("/proc/self/fd/%d", fd); }

static int reopen_for_writing(void) { return put_into(open(magic(), O_WRONLY)); }
static int reopen_for_both(void) { return put_into(open(magic(), O_RDWR | O_APPEND)); }
static int reopen_truncating(void) { TRY(open(magic(), O_RDONLY | O_TRUNC)); return 0; }
static int by_dev_fd(void) { return put_into(open(path_of("/dev/fd/%d", fd), O_WRONLY | O_APPEND)); }
static int write_it(void) { return put_into(fd); }
static int cut(void) { TRY(ftruncate(fd, 0)); return 0; }
static int cut_by_path(void) { TRY(truncate(magic(), 0)); return 0; }
static int mode(void) { TRY(fchmod(fd, 0777)); return 0; }
static int mode_by_path(void) { TRY(chmod(magic(), 0777)); return 0; }
static int owner(void) { TRY(fchown(fd, getuid(), getgid())); return 0; }
static int times(void) { static const struct timespec ago[2] = { { 86400, 0 }, { 86400, 0 } }; TRY(futimens(fd, ago)); return 0; }
static int attribute(void) { TRY(fsetxattr(fd, "user.planted", "x", 1, 0)); return 0; }

/* From the file to its folder, and to what lies beside it. */
static int neighbour(void)
{
	char path[PATH_MAX] = "";
	TRY(readlink(magic(), path, sizeof path - 1));
	if (path[0] != '/') return NOTHING;
	return take_from(open(path_of("%s/beside", folder_of(path)), O_RDONLY));
}

static int hard_link(void)
{
	TRY(linkat(fd, "", AT_FDCWD, "alias-of-stdio", AT_EMPTY_PATH));
	return 0;
}

int main(int count, char **words)
{
	if (count != 2) return 64;
	fd = atoi(words[1]);
	route("reopen-wronly", reopen_for_writing);
	route("reopen-rdwr", reopen_for_both);
	route("dev-fd", by_dev_fd);
	route("write", write_it);
	route("fchmod", mode);
	route("chmod", mode_by_path);
	route("fchown", owner);
	route("futimens", times);
	route("fsetxattr", attribute);
	route("neighbour", neighbour);
	route("linkat", hard_link);
	route("reopen-trunc", reopen_truncating);
	route("ftruncate", cut);
	route("truncate", cut_by_path);
	return 0;
}
