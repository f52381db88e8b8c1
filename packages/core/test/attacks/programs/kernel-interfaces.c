/*
 * Asks the kernel for what no tool needs. The arguments are wrong on purpose
 * where success would do harm; the kernel's complaint about them shows that
 * the call got through. Usage: kernel-interfaces FILE (any readable file)
 */
#include "route.h"
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/fanotify.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <time.h>

static const char *file;

static int io_uring(void)
{
	struct io_uring_params parameters = {0};
	return reached(syscall(SYS_io_uring_setup, 4, &parameters));
}

static int io_uring_register_(void) { return reached(syscall(SYS_io_uring_register, -1, 0, NULL, 0)); }
static int io_uring_enter_(void) { return reached(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0)); }

static int bpf_program(void)
{
	union bpf_attr attributes = { .prog_type = 0x7fffffff };
	return reached(syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes));
}

static int bpf_map(void)
{
	union bpf_attr attributes = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };
	return reached(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

static int perf_event(void)
{
	struct perf_event_attr attributes = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1, .exclude_hv = 1 };
	return reached(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

static int userfault(void) { return reached(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY)); }
static int userfault_device(void) { TRY(open("/dev/userfaultfd", O_RDWR)); return 0; }
static int session_keyring(void) { return reached(syscall(SYS_keyctl, 0, -3, 0)); }
static int user_keyring(void) { return reached(syscall(SYS_keyctl, 0, -4, 1)); }
static int join_keyring(void) { return reached(syscall(SYS_keyctl, 1, NULL)); }
static int add_a_key(void) { return reached(syscall(SYS_add_key, "user", "cordon-attack", "x", 1, -1 /* thread keyring */)); }
static int request_a_key(void) { return reached(syscall(SYS_request_key, "user", "cordon-attack-none", NULL, 0)); }
static int kexec(void) { return reached(syscall(SYS_kexec_load, 0, 1000, NULL, 0)); }
static int kexec_file(void) { return reached(syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0x80000000)); }
static int module(void) { return reached(syscall(SYS_init_module, NULL, 0, "")); }
static int module_file(void) { return reached(syscall(SYS_finit_module, -1, "", 0)); }
static int module_removal(void) { return reached(syscall(SYS_delete_module, "cordon_attack_no_such_module", O_NONBLOCK)); }

static int name_to_handle(void)
{
	struct { struct file_handle head; char bytes[MAX_HANDLE_SZ]; } handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;
	return reached(name_to_handle_at(AT_FDCWD, file, &handle.head, &mount_id, 0));
}

static int open_by_handle(void)
{
	struct file_handle handle = {0};
	return reached(open_by_handle_at(AT_FDCWD, &handle, O_RDONLY));
}

static int old_mount(void) { return reached(mount("none", "/cordon-attack-none", "tmpfs", 0, NULL)); }
static int remount(void) { return reached(mount(NULL, "/cordon-attack-none", NULL, MS_REMOUNT | MS_BIND | MS_NOSUID, NULL)); }
static int old_umount(void) { return reached(umount2("/cordon-attack-none", 0)); }
static int pivot(void) { return reached(syscall(SYS_pivot_root, "/cordon-attack-none", "/cordon-attack-none")); }
static int change_root(void) { return reached(chroot("/")); }
static int tree(void) { return reached(syscall(SYS_open_tree, AT_FDCWD, "/", 1)); }
static int tree_attr(void) { return reached(syscall(467, AT_FDCWD, "/", 1, NULL, 0)); }
static int file_system(void) { return reached(syscall(SYS_fsopen, "tmpfs", 0)); }
static int file_system_pick(void) { return reached(syscall(SYS_fspick, AT_FDCWD, "/", 0)); }
static int file_system_config(void) { return reached(syscall(SYS_fsconfig, -1, 0, NULL, NULL, 0)); }
static int file_system_mount(void) { return reached(syscall(SYS_fsmount, -1, 0, 0)); }
static int mount_move(void) { return reached(syscall(SYS_move_mount, -1, "x", -1, "x", 0)); }
static int mount_attributes(void) { return reached(syscall(SYS_mount_setattr, -1, "x", 0, NULL, 0)); }
static int swap_on(void) { return reached(syscall(SYS_swapon, "/cordon-attack-none", 0)); }
static int swap_off(void) { return reached(syscall(SYS_swapoff, "/cordon-attack-none")); }
static int restart(void) { return reached(syscall(SYS_reboot, 0, 0, 0, NULL)); }
static int process_accounting(void) { return reached(syscall(SYS_acct, "/cordon-attack-none")); }
static int quota(void) { return reached(syscall(SYS_quotactl, 0x800007 << 8, "/cordon-attack-none", 0, NULL)); }
static int quota_descriptor(void) { return reached(syscall(SYS_quotactl_fd, -1, 0x800007 << 8, 0, NULL)); }
static int kernel_log(void) { return reached(klogctl(10, NULL, 0)); }
static int kernel_log_read(void) { char text[64]; return reached(klogctl(3, text, sizeof text)); }
static int host_name(void) { return reached(syscall(SYS_sethostname, "x", -1)); }
static int domain_name(void) { return reached(syscall(SYS_setdomainname, "x", -1)); }
static int hang_up(void) { setsid(); return reached(syscall(SYS_vhangup)); }
static int watch_everything(void) { return reached(fanotify_init(0, O_RDONLY)); }
static int watch_reports(void) { return reached(fanotify_init(FAN_REPORT_FID, O_RDONLY)); }
static int trace_me(void) { return reached(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }
static int compare(void) { return reached(syscall(SYS_kcmp, getpid(), getppid(), 2, 0, 0)); }
static int personality_(void) { return reached(syscall(SYS_personality, 0x0040000 /* ADDR_NO_RANDOMIZE */)); }
static int own_vm_read(void) { char a, b = 1; struct iovec to = { &a, 1 }, from = { &b, 1 }; return reached(process_vm_readv(getpid(), &to, 1, &from, 1, 0)); }
static int lsm_attribute(void) { return reached(syscall(460, 100, NULL, 0, 0)); }

static int set_time(void) { struct timeval when = { .tv_sec = 0, .tv_usec = -1 }; return reached(syscall(SYS_settimeofday, &when, NULL)); }
static int set_clock(void) { struct timespec when = { .tv_nsec = -1 }; return reached(syscall(SYS_clock_settime, CLOCK_REALTIME, &when)); }

static int adjust_clock(void)
{
	struct timex change = { .modes = ADJ_TICK, .tick = 1 };
	return reached(syscall(SYS_adjtimex, &change));
}

static int adjust_clock_by_id(void)
{
	struct timex change = { .modes = ADJ_TICK, .tick = 1 };
	return reached(syscall(SYS_clock_adjtime, CLOCK_REALTIME, &change));
}

/* Numbers no kernel has yet: what is not on the list must not depend on the kernel's age. */
static int future_call(void) { return reached(syscall(4000)); }
static int past_the_table(void) { return reached(syscall(0x7fffffff)); }

int main(int count, char **words)
{
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "io_uring_setup", io_uring }, { "io_uring_register", io_uring_register_ }, { "io_uring_enter", io_uring_enter_ },
		{ "bpf-prog", bpf_program }, { "bpf-map", bpf_map }, { "perf_event_open", perf_event }, { "userfaultfd", userfault },
		{ "dev-userfaultfd", userfault_device }, { "keyctl-session", session_keyring }, { "keyctl-user", user_keyring },
		{ "keyctl-join", join_keyring }, { "add_key", add_a_key }, { "request_key", request_a_key }, { "kexec_load", kexec },
		{ "kexec_file_load", kexec_file }, { "init_module", module }, { "finit_module", module_file },
		{ "delete_module", module_removal }, { "name_to_handle_at", name_to_handle }, { "open_by_handle_at", open_by_handle },
		{ "mount", old_mount }, { "remount", remount }, { "umount2", old_umount }, { "pivot_root", pivot }, { "chroot", change_root },
		{ "open_tree", tree }, { "open_tree_attr", tree_attr }, { "fsopen", file_system }, { "fspick", file_system_pick },
		{ "fsconfig", file_system_config }, { "fsmount", file_system_mount }, { "move_mount", mount_move },
		{ "mount_setattr", mount_attributes }, { "swapon", swap_on }, { "swapoff", swap_off }, { "reboot", restart },
		{ "acct", process_accounting }, { "quotactl", quota }, { "quotactl_fd", quota_descriptor }, { "syslog-size", kernel_log },
		{ "syslog-read", kernel_log_read }, { "sethostname", host_name }, { "setdomainname", domain_name }, { "vhangup", hang_up },
		{ "fanotify_init", watch_everything }, { "fanotify_init-fid", watch_reports }, { "ptrace-traceme", trace_me },
		{ "kcmp", compare }, { "personality", personality_ }, { "process_vm_readv-self", own_vm_read },
		{ "lsm_set_self_attr", lsm_attribute }, { "settimeofday", set_time }, { "clock_settime", set_clock },
		{ "adjtimex", adjust_clock }, { "clock_adjtime", adjust_clock_by_id }, { "syscall-4000", future_call },
		{ "syscall-past-table", past_the_table },
	};
	if (count != 2) return 64;
	file = words[1];
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) route(routes[i].name, routes[i].try);
	return 0;
}
