/* Makes or enters namespaces, where new powers would come from. Usage: new-namespaces */
#include "route.h"
#include <linux/sched.h>
#include <sched.h>

static struct { const char *name; unsigned long flag; } const kinds[] = {
	{ "user", CLONE_NEWUSER }, { "mnt", CLONE_NEWNS }, { "pid", CLONE_NEWPID }, { "net", CLONE_NEWNET },
	{ "ipc", CLONE_NEWIPC }, { "uts", CLONE_NEWUTS }, { "cgroup", CLONE_NEWCGROUP }, { "time", 0x80 /* CLONE_NEWTIME */ },
};

static size_t chosen;
static bool with_user;

static unsigned long flags(void) { return kinds[chosen].flag | (with_user ? CLONE_NEWUSER : 0); }

static int by_unshare(void) { TRY(syscall(SYS_unshare, flags())); return 0; }

static int child_of(long pid)
{
	if (pid < 0) return errno;
	if (pid == 0) _exit(0);
	waitpid((pid_t)pid, NULL, __WALL);
	return 0;
}

static int by_clone(void) { return child_of(syscall(SYS_clone, flags() | SIGCHLD, 0, 0, 0, 0)); }

static int by_clone3(void)
{
	struct clone_args arguments = { .flags = flags(), .exit_signal = SIGCHLD };
	return child_of(syscall(SYS_clone3, &arguments, sizeof arguments));
}

/* The upper half of the register is not part of clone's flags: a filter that compares 64 bits misses the flag. */
static int by_clone_with_high_bits(void) { return child_of(syscall(SYS_clone, flags() | SIGCHLD | 1ul << 40, 0, 0, 0, 0)); }

/* Entering one's own is as much as the permission to enter another. */
static int by_setns(void)
{
	int fd = open(path_of("/proc/self/ns/%s", kinds[chosen].name), O_RDONLY);
	TRY(fd);
	return reached(syscall(SYS_setns, fd, 0));
}

static int by_setns_of_first(void)
{
	int fd = open(path_of("/proc/1/ns/%s", kinds[chosen].name), O_RDONLY);
	TRY(fd);
	return reached(syscall(SYS_setns, fd, 0));
}

static int by_setns_of_handle(void)
{
	int handle = (int)syscall(SYS_pidfd_open, getppid(), 0);
	TRY(handle);
	return reached(syscall(SYS_setns, handle, flags()));
}

/* A user namespace's maps may be written by whoever made it. */
static int by_uid_map(void)
{
	int fd = open("/proc/self/uid_map", O_WRONLY);
	TRY(fd);
	return reached(write(fd, "0 0 1\n", 6));
}

static int by_setgroups_file(void)
{
	int fd = open("/proc/self/setgroups", O_WRONLY);
	TRY(fd);
	return reached(write(fd, "allow", 5));
}

static void all(const char *label, attempt *try)
{
	for (chosen = 0; chosen < sizeof kinds / sizeof *kinds; chosen++) {
		/* To clone, unlike clone3, the bit of a time namespace is part of the exit signal. */
		if (strncmp(label, "clone-", 6) == 0 && strcmp(kinds[chosen].name, "time") == 0) continue;
		route(path_of("%s%s", label, kinds[chosen].name), try);
	}
}

int main(void)
{
	all("unshare-", by_unshare);
	all("clone-", by_clone);
	all("clone3-", by_clone3);
	all("clone-high-bits-", by_clone_with_high_bits);
	with_user = true;
	all("unshare-user+", by_unshare);
	all("clone-user+", by_clone);
	all("clone3-user+", by_clone3);
	with_user = false;
	all("setns-", by_setns);
	all("setns-of-1-", by_setns_of_first);
	all("setns-pidfd-", by_setns_of_handle);
	route("uid-map", by_uid_map);
	route("setgroups-file", by_setgroups_file);
	return 0;
}
