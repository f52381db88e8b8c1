/*
 * Runs a command where the kernel refuses something, as in places that this
 * machine is not. Usage: imitate WORD... -- COMMAND...
 *
 * The refusals are a seccomp filter that the command inherits, and mounts over
 * parts of /proc in a mount namespace of its own, so that nothing stays behind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACE_FLAGS 0x7e020000u
#define SET_INTERFACE_FLAGS 0x8914u /* SIOCSIFFLAGS */
#define MOST 512

static struct sock_filter filter[MOST];
static unsigned short length;

static _Noreturn void stop(const char *what)
{
	fprintf(stderr, "imitate: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void emit(unsigned short code, unsigned k, unsigned char yes, unsigned char no)
{
	if (length == MOST)
		abort();
	filter[length++] = (struct sock_filter){ code, yes, no, k };
}

/* The number is in the accumulator before and after. */
static void refuse(long number, int error)
{
	emit(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
	emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0);
}

static void refuse_when(long number, int argument, unsigned short test, unsigned value, int error)
{
	emit(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4);
	emit(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * argument, 0, 0);
	emit(BPF_JMP | test | BPF_K, value, 0, 1);
	emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0);
	emit(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
}

static void refuse_mounts(int error)
{
	static const long numbers[] = {
		SYS_mount, SYS_umount2, SYS_pivot_root, SYS_open_tree, SYS_move_mount,
		SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr,
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		refuse(numbers[i], error);
	refuse(SYS_sethostname, EPERM);
}

static void refuse_user_namespaces(void)
{
	refuse_when(SYS_clone, 0, BPF_JSET, NAMESPACE_FLAGS, EPERM);
	refuse(SYS_clone3, ENOSYS);
	refuse(SYS_unshare, EPERM);
	refuse(SYS_setns, EPERM);
}

/* Mounts need a namespace of their own, and who is not root needs a user namespace for that. */
static void enter_own_mounts(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char line[64];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
		stop("unshare");
	for (int i = 0; uid && i < 3; i++) {
		static const char *const files[] = { "/proc/self/uid_map", "/proc/self/setgroups", "/proc/self/gid_map" };
		int fd = open(files[i], O_WRONLY);
		snprintf(line, sizeof line, i == 1 ? "deny" : "%u %u 1\n", i ? gid : uid, i ? gid : uid);
		if (fd < 0 || write(fd, line, strlen(line)) < 0)
			stop(files[i]);
		close(fd);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		stop("private mounts");
}

static void mask(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return;
	if (S_ISDIR(status.st_mode) ? mount("tmpfs", path, "tmpfs", MS_RDONLY, "size=0k") < 0 : mount("/dev/null", path, NULL, MS_BIND, NULL) < 0)
		stop(path);
}

static void make_read_only(const char *path)
{
	if (access(path, F_OK) == 0 && (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0 ||
					mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0))
		stop(path);
}

static void mask_proc(void)
{
	static const char *const masked[] = {
		"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
	};
	static const char *const sealed[] = { "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger" };

	enter_own_mounts();
	for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
		mask(masked[i]);
	for (size_t i = 0; i < sizeof sealed / sizeof *sealed; i++)
		make_read_only(sealed[i]);
}

/* The capabilities that Docker leaves to root in a container. */
static void keep_container_capabilities(void)
{
	static const int kept[] = {
		CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP,
		CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_SYS_CHROOT, CAP_MKNOD, CAP_AUDIT_WRITE, CAP_SETFCAP,
	};
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	unsigned long long bits = 0;

	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		bits |= 1ull << kept[i];
	for (int capability = 0; capability <= 63; capability++)
		if (!(bits >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	if (geteuid() == 0) {
		data[0].effective = data[0].permitted = (unsigned)bits;
		data[1].effective = data[1].permitted = (unsigned)(bits >> 32);
	}
	if (syscall(SYS_capset, &header, data) < 0)
		stop("capset");
}

struct restriction {
	const char *word;
	void (*prepare)(void); /* before any filter */
	void (*filter)(void);
};

static void no_mounts(void) { refuse_mounts(EPERM); }
static void no_pidfd_getfd(void) { refuse(SYS_pidfd_getfd, EPERM); }
static void no_process_vm(void) { refuse(SYS_process_vm_readv, EPERM); refuse(SYS_process_vm_writev, EPERM); }
static void no_openat2(void) { refuse(437 /* openat2 */, EPERM); }
static void no_listener(void) { refuse_when(SYS_seccomp, 1, BPF_JSET, SECCOMP_FILTER_FLAG_NEW_LISTENER, EBUSY); }
static void no_landlock(void) { refuse(444 /* landlock_create_ruleset */, ENOSYS); }
static void no_seccomp(void) { refuse(SYS_seccomp, EPERM); }
static void no_inotify(void) { refuse(SYS_inotify_init1, EMFILE); }
static void read_only_proc(void) { enter_own_mounts(); make_read_only("/proc"); }

/* As AppArmor does it: the namespace is made, and then has no rights. */
static void powerless_user_namespaces(void)
{
	refuse_mounts(EACCES);
	refuse_when(SYS_ioctl, 1, BPF_JEQ, SET_INTERFACE_FLAGS, EPERM);
}

static const struct restriction restrictions[] = {
	{ "no-user-namespaces", NULL, refuse_user_namespaces },
	{ "powerless-user-namespaces", NULL, powerless_user_namespaces },
	{ "no-mounts", NULL, no_mounts },
	{ "no-pidfd-getfd", NULL, no_pidfd_getfd },
	{ "no-process-vm", NULL, no_process_vm },
	{ "no-openat2", NULL, no_openat2 },
	{ "no-listener", NULL, no_listener },
	{ "no-landlock", NULL, no_landlock },
	{ "no-seccomp", NULL, no_seccomp },
	{ "no-inotify", NULL, no_inotify },
	{ "masked-proc", mask_proc, NULL },
	{ "read-only-proc", read_only_proc, NULL },
	{ "container-capabilities", keep_container_capabilities, NULL },
};

static const struct restriction *restriction_of(const char *word)
{
	for (size_t i = 0; i < sizeof restrictions / sizeof *restrictions; i++)
		if (strcmp(restrictions[i].word, word) == 0)
			return &restrictions[i];
	errno = EINVAL;
	stop(word);
}

int main(int argc, char **argv)
{
	int at = 1;

	emit(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
		const struct restriction *restriction = restriction_of(argv[at]);
		if (restriction->prepare)
			restriction->prepare();
		if (restriction->filter)
			restriction->filter();
	}
	if (at + 1 >= argc) {
		fputs("usage: imitate WORD... -- COMMAND...\n", stderr);
		return 99;
	}
	emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	struct sock_fprog program = { length, filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		stop("seccomp");
	execvp(argv[at + 1], argv + at + 1);
	stop(argv[at + 1]);
}
