/* The first process of the machine: mounts what a Linux has, runs the command, and switches the machine off. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	printf("init: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
}

static void mount_at(const char *type, const char *where, const char *options)
{
	must(mount(type, where, type, 0, options), where);
}

int main(void)
{
	/* The initial file system cannot be pivoted away from; a mount of it can. */
	must(mount("/", "/new", NULL, MS_BIND, NULL), "bind /");
	must(chdir("/new"), "chdir");
	must(mount(".", "/", NULL, MS_MOVE, NULL), "move /");
	must(chroot("."), "chroot");
	must(chdir("/"), "chdir");
	mount_at("devtmpfs", "/dev", NULL);
	mount_at("proc", "/proc", NULL);
	mount_at("sysfs", "/sys", NULL);
	mount_at("cgroup2", "/sys/fs/cgroup", "nsdelegate");
	mount_at("tmpfs", "/tmp", "mode=1777");
	mount_at("tmpfs", "/var/tmp", "mode=1777");

	pid_t child = fork();
	if (child == 0) {
		char *command[] = { "/node", "/guest/main.mjs", NULL };
		char *environment[] = { "PATH=/usr/bin:/bin", "HOME=/root", NULL };
		execve(command[0], command, environment);
		must(-1, command[0]);
	}
	for (int status; wait(&status) != child;)
		;
	reboot(RB_POWER_OFF);
}
