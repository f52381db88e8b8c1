/*
 * The first process of the machine: mounts what a Linux has, runs the command, and switches the machine off. With
 * drivers in /modules, the root is the first disk. Otherwise it is the initial file system.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* Each needs the ones before it. */
static void load_modules(void)
{
	struct dirent **entries;
	int count = scandir("/modules", &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char path[300];
		if (name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/modules/%s", name);
		int file = open(path, O_RDONLY | O_CLOEXEC);
		must(file, path);
		enum { COMPRESSED = 4 };
		must((int)syscall(SYS_finit_module, file, "", strstr(name, ".xz") ? COMPRESSED : 0), path);
		close(file);
	}
}

static void mount_disk(void)
{
	struct stat facts;
	mount_at("devtmpfs", "/dev", NULL);
	load_modules();
	for (int tries = 0; tries < 600 && stat("/dev/vda", &facts) < 0; tries++)
		usleep(100000);
	must(mount("/dev/vda", "/new", "ext4", 0, NULL), "mount /dev/vda");
}

static void start_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(ioctl(any, SIOCSIFFLAGS, &request), "lo");
	close(any);
}

int main(void)
{
	puts("init: the kernel has started");
	fflush(stdout);
	bool has_disk = access("/modules", F_OK) == 0;
	/* The initial file system cannot be pivoted away from; a mount of it can. */
	if (has_disk)
		mount_disk();
	else
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
	if (has_disk) {
		mount_at("securityfs", "/sys/kernel/security", NULL);
		must(mkdir("/dev/shm", 0755), "/dev/shm");
		mount_at("tmpfs", "/dev/shm", "mode=1777");
		start_loopback();
	} else {
		mount_at("tmpfs", "/var/tmp", "mode=1777");
	}

	pid_t child = fork();
	if (child == 0) {
		char *command[] = { has_disk ? "/usr/bin/node" : "/node", has_disk ? "/opt/project/guest/main.mjs" : "/guest/main.mjs", NULL };
		char *environment[] = { "PATH=/usr/bin:/bin", "HOME=/root", NULL };
		execve(command[0], command, environment);
		must(-1, command[0]);
	}
	for (int status; wait(&status) != child;)
		;
	reboot(RB_POWER_OFF);
}
