/* Privileges and resource limits that the tool starts with. */
#include "boundary/confine.h"
#include "wire/report.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/*
 * A crash would hand the tool's memory to the host: as a core file, or to the program or socket that core_pattern
 * names. With a limit of exactly 1 the kernel writes no file and starts no program (with 0 it would start one). A
 * socket (since Linux 6.16) heeds no limit, but gets nothing of the memory that the filter leaves out. Children inherit
 * both. The tool can change neither: the filter lies in /proc, and verdicts.c keeps the limit.
 */
void disable_core_dumps(void)
{
	CLOSE_ON_RETURN int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);

	/* An ordinary user with a hard limit of 0 cannot raise it. The handler gets no memory then, either. */
	(void)!setrlimit(RLIMIT_CORE, &(struct rlimit){ 1, 1 });
	if (filter >= 0)
		(void)!write(filter, "0", 1);
}

void drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no-new-privs", NULL);
	/* Being uid 0 gives nothing back at exec. Only possible with the capability, needed only then. */
	prctl(PR_SET_SECUREBITS,
	      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
		      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
	      0, 0, 0);
	/* EINVAL comes behind the last one. With EPERM there is nothing to drop. */
	for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Root's supplementary groups open files; refused (and harmless) for everybody else. */
	(void)!syscall(SYS_setgroups, 0, NULL);
	if (syscall(SYS_capset, &header, none) < 0)
		die("capabilities", NULL);
}

static void set_limit(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit now, wanted;

	/* Never raises: what the host itself was given bounds the cell too. */
	if (getrlimit(resource, &now) < 0)
		die("limits", NULL);
	wanted.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
	wanted.rlim_cur = soft < wanted.rlim_max ? soft : wanted.rlim_max;
	if (setrlimit(resource, &wanted) < 0)
		die("limits", NULL);
}

void apply_resource_limits(const struct plan *plan)
{
	const struct limits *limits = &plan->limits;

	/* Counts what waits for all processes of the user: others go on having more. */
	set_limit(RLIMIT_SIGPENDING, 1024, 1024);
	set_limit(RLIMIT_MSGQUEUE, 0, 0);
	set_limit(RLIMIT_RTPRIO, 0, 0);
	set_limit(RLIMIT_MEMLOCK, 64 << 10, 64 << 10);
	/* Counts all processes of the user: only in a user namespace are these the cell's alone. */
	if (limits->user_processes && plan->form == FORM_NAMESPACES)
		set_limit(RLIMIT_NPROC, limits->user_processes, limits->user_processes);
	if (limits->file_size)
		set_limit(RLIMIT_FSIZE, limits->file_size, limits->file_size);
	if (limits->cpu) {
		/* Of one process; the supervisor adds up all of them. */
		uint64_t seconds = (limits->cpu + 999) / 1000;
		set_limit(RLIMIT_CPU, seconds + 1, seconds + 2);
	}
}

/*
 * Descriptors that wait in sockets are counted for all of a user together, and compared with the sender's limit. Ours
 * is higher than any tool's, so that we still can send. So this limit comes last, behind what is sent for the tool.
 */
void limit_descriptors(const struct plan *plan)
{
	struct rlimit own;

	if (getrlimit(RLIMIT_NOFILE, &own) < 0)
		die("limits", NULL);
	set_limit(RLIMIT_NOFILE, own.rlim_cur, own.rlim_max - own.rlim_max / 4);
	if (plan->limits.files)
		set_limit(RLIMIT_NOFILE, plan->limits.files, plan->limits.files);
}
