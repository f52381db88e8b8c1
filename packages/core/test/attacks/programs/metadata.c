/*
 * Changes mode, owner, times and attributes of a file that its user owns but
 * that was not granted for writing. Usage: metadata FILE SCRATCH
 */
#include "route.h"
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#define SYS_setxattrat_ 463
#define SYS_file_setattr_ 469

static const char *file, *scratch;
static const struct timespec long_ago[2] = { { .tv_sec = 86400 }, { .tv_sec = 86400 } };

static int opened(void) { return open(file, O_RDONLY | O_NONBLOCK); }
static char *own_descriptor(int fd) { return path_of("/proc/self/fd/%d", fd); }

static int by_chmod(void) { TRY(chmod(file, 0777)); return 0; }
static int by_fchmodat(void) { TRY(syscall(SYS_fchmodat, AT_FDCWD, file, 0776)); return 0; }
static int by_fchmodat2(void) { TRY(syscall(SYS_fchmodat2, AT_FDCWD, file, 0775, 0)); return 0; }
static int by_chown(void) { TRY(chown(file, getuid(), getgid())); return 0; }
static int by_lchown(void) { TRY(lchown(file, getuid(), getgid())); return 0; }
static int by_chown_to_other(void) { TRY(chown(file, 65533, 65533)); return 0; }
static int by_fchownat(void) { TRY(fchownat(AT_FDCWD, file, getuid(), getgid(), 0)); return 0; }
static int by_utimensat(void) { TRY(utimensat(AT_FDCWD, file, long_ago, 0)); return 0; }
static int by_utimensat_now(void) { TRY(utimensat(AT_FDCWD, file, NULL, 0)); return 0; }
static int by_utime(void) { struct utimbuf times = { 86400, 86400 }; TRY(utime(file, &times)); return 0; }
static int by_utimes(void) { struct timeval times[2] = { { 86400, 0 }, { 86400, 0 } }; TRY(utimes(file, times)); return 0; }
static int by_setxattr(void) { TRY(setxattr(file, "user.planted", "x", 1, 0)); return 0; }
static int by_lsetxattr(void) { TRY(lsetxattr(file, "user.planted", "y", 1, 0)); return 0; }
static int by_removexattr(void) { TRY(removexattr(file, "user.mark")); return 0; }
static int by_fchmod(void) { int fd = opened(); TRY(fd); TRY(fchmod(fd, 0774)); return 0; }
static int by_fchown(void) { int fd = opened(); TRY(fd); TRY(fchown(fd, getuid(), getgid())); return 0; }
static int by_futimens(void) { int fd = opened(); TRY(fd); TRY(futimens(fd, long_ago)); return 0; }
static int by_fsetxattr(void) { int fd = opened(); TRY(fd); TRY(fsetxattr(fd, "user.planted", "z", 1, 0)); return 0; }

static int by_chmod_of_own_fd(void)
{
	int fd = open(file, O_PATH);
	TRY(fd);
	TRY(chmod(own_descriptor(fd), 0773));
	return 0;
}

static int by_fchmodat2_empty_path(void)
{
	int fd = open(file, O_PATH);
	TRY(fd);
	TRY(syscall(SYS_fchmodat2, fd, "", 0772, AT_EMPTY_PATH));
	return 0;
}

static int by_fchownat_empty_path(void)
{
	int fd = open(file, O_PATH);
	TRY(fd);
	TRY(fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH));
	return 0;
}

static int by_utimensat_of_handle(void)
{
	int fd = open(file, O_PATH);
	TRY(fd);
	TRY(utimensat(AT_FDCWD, own_descriptor(fd), long_ago, 0));
	return 0;
}

static int by_setxattr_of_own_fd(void)
{
	int fd = open(file, O_PATH);
	TRY(fd);
	TRY(setxattr(own_descriptor(fd), "user.planted", "w", 1, 0));
	return 0;
}

static int by_setxattrat(void)
{
	struct { uint64_t value; uint32_t size, flags; } arguments = { (uintptr_t)"v", 1, 0 };
	TRY(syscall(SYS_setxattrat_, AT_FDCWD, file, 0, "user.planted", &arguments, sizeof arguments));
	return 0;
}

static int by_acl(void)
{
	/* version 2, then user::rwx group::rwx other::rwx */
	static const unsigned char acl[] = { 2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255, 255, 255, 255,
		32, 0, 7, 0, 255, 255, 255, 255 };
	TRY(setxattr(file, "system.posix_acl_access", acl, sizeof acl, 0));
	return 0;
}

static int by_symlink(void)
{
	char *link = path_of("%s/link", scratch);
	TRY(symlink(file, link));
	TRY(chmod(link, 0771));
	return 0;
}

static int by_relative_path(void)
{
	char *up = path_of("%s", "..");
	for (int i = 0; i < 24; i++) up = path_of("%s/..", up);
	TRY(chdir(scratch));
	TRY(chmod(path_of("%s%s", up, file), 0770));
	return 0;
}

static int by_own_root(void) { TRY(chmod(path_of("/proc/self/root%s", file), 0767)); return 0; }

static int by_inode_flags(void)
{
	int fd = opened(), flags = 0;
	TRY(fd);
	TRY(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags ^= FS_NOATIME_FL;
	TRY(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	return 0;
}

static int by_extended_flags(void)
{
	struct fsxattr facts;
	int fd = opened();
	TRY(fd);
	TRY(ioctl(fd, FS_IOC_FSGETXATTR, &facts));
	facts.fsx_xflags ^= FS_XFLAG_NODUMP;
	TRY(ioctl(fd, FS_IOC_FSSETXATTR, &facts));
	return 0;
}

static int by_file_setattr(void)
{
	struct { uint64_t xflags; uint32_t extsize, nextents, projid, cowextsize; } facts = { .xflags = FS_XFLAG_NODUMP };
	TRY(syscall(SYS_file_setattr_, AT_FDCWD, file, &facts, sizeof facts, 0));
	return 0;
}

/* A lease makes every other open of the file wait for its holder. */
static int by_lease(void)
{
	int fd = opened();
	TRY(fd);
	TRY(fcntl(fd, F_SETLEASE, F_RDLCK));
	return 0;
}

int main(int count, char **words)
{
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "chmod", by_chmod }, { "fchmodat", by_fchmodat }, { "fchmodat2", by_fchmodat2 }, { "chown", by_chown },
		{ "lchown", by_lchown }, { "fchownat", by_fchownat }, { "chown-to-other", by_chown_to_other },
		{ "utimensat", by_utimensat }, { "utimensat-now", by_utimensat_now }, { "utime", by_utime }, { "utimes", by_utimes },
		{ "setxattr", by_setxattr }, { "lsetxattr", by_lsetxattr }, { "setxattrat", by_setxattrat },
		{ "removexattr", by_removexattr }, { "fchmod-rdonly", by_fchmod }, { "fchown-rdonly", by_fchown },
		{ "futimens-rdonly", by_futimens }, { "fsetxattr-rdonly", by_fsetxattr }, { "chmod-proc-self-fd", by_chmod_of_own_fd },
		{ "fchmodat2-empty-path", by_fchmodat2_empty_path }, { "fchownat-empty-path", by_fchownat_empty_path },
		{ "utimensat-proc-self-fd", by_utimensat_of_handle }, { "setxattr-proc-self-fd", by_setxattr_of_own_fd },
		{ "posix-acl", by_acl }, { "chmod-symlink", by_symlink }, { "chmod-dot-dot", by_relative_path },
		{ "chmod-proc-self-root", by_own_root }, { "fs-ioc-setflags", by_inode_flags }, { "fs-ioc-fssetxattr", by_extended_flags },
		{ "file-setattr", by_file_setattr }, { "setlease", by_lease },
	};
	if (count != 3) return 64;
	file = words[1];
	scratch = words[2];
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) route(routes[i].name, routes[i].try);
	return 0;
}
