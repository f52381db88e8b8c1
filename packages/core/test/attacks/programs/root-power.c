/*
 * Uses what root could do, without doing it: files of the kernel are opened
 * for writing and never written, devices are made in SCRATCH only.
 * Usage: root-power BLOCK_DEVICE SCRATCH       ("-" when there is no such device)
 */
#include "route.h"
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

static const char *device, *scratch, *path;

static int opens_for_writing(void) { TRY(open(path, O_WRONLY | O_NONBLOCK)); return 0; }
static int opens_for_reading(void) { TRY(open(path, O_RDONLY | O_NONBLOCK)); return 0; }

static int by_node(mode_t kind, dev_t number, const char *name)
{
	char *node = path_of("%s/%s", scratch, name);
	TRY(mknod(node, kind | 0600, number));
	int fd = open(node, O_RDONLY | O_NONBLOCK);
	if (fd < 0) note("made, but not opened: %s", error_name(errno));
	unlink(node);
	return 0;
}

static int by_char_node(void) { return by_node(S_IFCHR, makedev(1, 1), "mem"); }
static int by_zero_node(void) { return by_node(S_IFCHR, makedev(1, 5), "zero"); }
static int by_block_node(void) { return by_node(S_IFBLK, makedev(7, 0), "loop0"); }
static int by_raw_disk(void) { TRY(open(device, O_RDONLY)); return 0; }
static int by_chroot(void) { TRY(chroot(scratch)); return 0; }

static int held_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[2] = {0};
	TRY(syscall(SYS_capget, &header, sets));
	unsigned any = 0;
	for (int i = 0; i < 2; i++) any |= sets[i].effective | sets[i].permitted | sets[i].inheritable;
	note("effective %08x%08x permitted %08x%08x", sets[1].effective, sets[0].effective, sets[1].permitted, sets[0].permitted);
	return any ? 0 : NOTHING;
}

static int ambient_capabilities(void)
{
	for (unsigned long capability = 0; capability < 41; capability++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1) return 0;
	return NOTHING;
}

/* With root's user id and no `noroot`, an execve gives back whatever the bounding set still has. */
static int capabilities_by_exec(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return NOTHING;
	for (unsigned long capability = 0; capability < 41; capability++)
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) return 0;
	return NOTHING;
}

static int capabilities_after_exec(void)
{
	char line[256];
	unsigned long long effective = 0;
	int ends[2];
	TRY(pipe(ends));
	pid_t child = fork();
	TRY(child);
	if (child == 0) {
		char *const argv[] = { "root-power", "--own-capabilities", NULL };
		dup2(ends[1], 1);
		execve("/proc/self/exe", argv, NULL);
		_exit(1);
	}
	close(ends[1]);
	FILE *from = fdopen(ends[0], "r");
	while (fgets(line, sizeof line, from)) sscanf(line, "CapEff: %llx", &effective);
	waitpid(child, NULL, 0);
	note("CapEff %llx", effective);
	return effective ? 0 : NOTHING;
}

static int raised_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[2] = { { 1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 0 }, { 0, 0, 0 } };
	TRY(syscall(SYS_capset, &header, sets));
	return 0;
}

static int new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? NOTHING : 0; }
static int other_user(void) { TRY(setresuid(65533, 65533, 65533)); return 0; }
static int other_group(void) { TRY(setresgid(65533, 65533, 65533)); return 0; }
static int other_groups(void) { gid_t group = 65533; TRY(setgroups(1, &group)); return 0; }
static int other_fs_user(void) { setfsuid(65533); return setfsuid(-1) == 65533 ? 0 : NOTHING; }
static int higher_priority(void) { TRY(setpriority(PRIO_PROCESS, 0, -5)); return 0; }
static int secure_bits(void) { TRY(prctl(PR_SET_SECUREBITS, prctl(PR_GET_SECUREBITS))); return 0; }

static int real_time(void)
{
	struct sched_param parameters = { .sched_priority = 1 };
	TRY(sched_setscheduler(0, SCHED_FIFO, &parameters));
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	return 0;
}

static int higher_limit(void)
{
	struct rlimit limit;
	TRY(getrlimit(RLIMIT_NOFILE, &limit));
	if (limit.rlim_max == RLIM_INFINITY) return NOTHING;
	limit.rlim_max++;
	TRY(setrlimit(RLIMIT_NOFILE, &limit));
	return 0;
}

static int lower_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);
	TRY(fd);
	TRY(write(fd, "-500", 4));
	return 0;
}

/* Readable by all; only the powerful see something else than zeros. */
static int kernel_addresses(void)
{
	char line[256];
	unsigned long address = 0;
	FILE *symbols = fopen("/proc/kallsyms", "r");
	if (!symbols) return errno;
	while (fgets(line, sizeof line, symbols)) address |= strtoul(line, NULL, 16);
	return address ? 0 : NOTHING;
}

static int login_id(void)
{
	int fd = open("/proc/self/loginuid", O_WRONLY);
	TRY(fd);
	TRY(write(fd, "65533", 5));
	return 0;
}

static int show_own_capabilities(void)
{
	char bytes[8192];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
	return length > 0 && write(1, bytes, (size_t)length) == length ? 0 : 1;
}

int main(int count, char **words)
{
	static const char *const writable[] = {
		"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
		"/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/randomize_va_space",
		"/proc/sys/fs/binfmt_misc/register", "/proc/sys/fs/protected_symlinks", "/proc/sys/user/max_user_namespaces",
		"/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/1/oom_score_adj", "/proc/mtrr",
		"/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/power/state", "/sys/module/printk/parameters/time",
		"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/memory/release_agent",
		"/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs", "/sys/kernel/debug/tracing/trace_marker",
		"/dev/kmsg", "/dev/mem", "/dev/port", "/dev/loop-control", "/dev/loop0", "/dev/btrfs-control", "/dev/autofs",
		"/dev/net/tun", "/dev/kvm", "/dev/vhost-net", "/dev/vhost-vsock", "/dev/uinput", "/dev/rtc0", "/dev/hwrng", "/dev/cpu_dma_latency",
		"/dev/ptp0", "/dev/fuse", "/dev/mapper/control", "/dev/vfio/vfio", "/dev/sg0",
	};
	static const char *const readable[] = {
		"/dev/kmsg", "/dev/mem", "/proc/kcore", "/proc/kmsg", "/proc/sched_debug", "/proc/timer_list", "/proc/keys",
		"/proc/key-users", "/proc/slabinfo", "/proc/vmallocinfo", "/proc/kpagecount", "/proc/kpageflags",
		"/sys/kernel/vmcoreinfo", "/sys/firmware", "/sys/kernel/security", "/sys/kernel/debug",
	};
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "mknod-mem", by_char_node }, { "mknod-zero", by_zero_node }, { "mknod-block", by_block_node }, { "chroot", by_chroot },
		{ "capabilities", held_capabilities }, { "ambient", ambient_capabilities }, { "exec-capabilities", capabilities_by_exec },
		{ "after-exec", capabilities_after_exec }, { "capset", raised_capabilities }, { "new-privileges", new_privileges },
		{ "setresuid", other_user }, { "setresgid", other_group }, { "setgroups", other_groups }, { "setfsuid", other_fs_user },
		{ "priority", higher_priority }, { "securebits", secure_bits }, { "real-time", real_time }, { "rlimit", higher_limit },
		{ "oom-score", lower_oom_score }, { "loginuid", login_id }, { "kallsyms", kernel_addresses },
	};
	if (count == 2 && strcmp(words[1], "--own-capabilities") == 0) return show_own_capabilities();
	if (count != 3) return 64;
	device = words[1];
	scratch = words[2];
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) route(routes[i].name, routes[i].try);
	if (strcmp(device, "-") != 0) route("raw-disk", by_raw_disk);
	for (size_t i = 0; i < sizeof writable / sizeof *writable; i++) route(path_of("write %s", path = writable[i]), opens_for_writing);
	for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) route(path_of("read %s", path = readable[i]), opens_for_reading);
	return 0;
}
