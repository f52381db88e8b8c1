/* Which part of the keeper answers which trapped system call of the tool. */
#include "keeper/answer.h"
#include "boundary/landlock.h"
#include "keeper/executing.h"
#include "keeper/files/metadata.h"
#include "keeper/files/refused-changes.h"
#include "keeper/limits/memory-files.h"
#include "keeper/limits/signals.h"
#include "keeper/network/bind.h"
#include "keeper/network/connect.h"
#include "keeper/network/datagram-pairs.h"
#include "keeper/network/stand-in.h"
#include "processes/proc.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What would be carried out here for the tool of this cell is for the kernel to decide where a cell inside it asks. */
static void answer_own(const struct notification *call, void (*answer)(const struct notification *call))
{
	if (!answer_nested_file(call))
		answer(call);
}

static void answer_emptying(const struct notification *call)
{
	answer_metadata(call);
}

void begin_answers(struct remembered *remembered, const struct plan *plan, int supervisor)
{
	pid_t own = own_pid_in_proc();

	*remembered = (struct remembered){ .keeper_in_proc = own == getpid() ? 0 : own };
	/* Inside another cell it is the outer keeper who answers. */
	remembered->has_broker = plan->network_brokered && !plan->network_nested;
	if (remembered->has_broker)
		open_broker(&remembered->broker, plan, supervisor, &remembered->told);
	open_nest(&remembered->nest, plan, remembered->has_broker ? &remembered->broker : NULL);
}

void answer_notification(const struct plan *plan, int listener, int supervisor, struct remembered *remembered)
{
	struct seccomp_notif request = { 0 };
	struct notification call = {
		.plan = plan,
		.request = &request,
		.listener = listener,
		.supervisor = supervisor,
		.keeper_in_proc = remembered->keeper_in_proc,
		.told = &remembered->told,
		.attempts = &remembered->attempts,
		.terminals = &remembered->terminals,
		.broker = remembered->has_broker ? &remembered->broker : NULL,
		.nest = &remembered->nest,
	};

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return; /* the tool was killed between poll and here */
	switch (request.data.nr) {
	case SYS_clone:
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
#endif
		answer_fork(&call, &remembered->tasks);
		break;
	case SYS_execve: answer_execute(&call); break;
	case SYS_memfd_create: answer_memory_file(&call); break;
	case SYS_mmap: answer_shared_mapping(&call, &remembered->charges); break;
	case SYS_connect: answer_connect(&call); break;
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_pidfd_send_signal:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo: answer_signal(&call); break;
	case SYS_socket: answer_socket(&call); break;
	case SYS_inotify_init1:
#ifdef SYS_inotify_init
	case SYS_inotify_init:
#endif
		answer_inotify(&call, &remembered->inotify);
		break;
	case SYS_bind: answer_own(&call, answer_bind); break;
	case SYS_ioctl: answer_ioctl(&call); break;
	case SYS_socketpair: answer_socket_pair(&call); break;
	case SYS_listen: answer_listen(&call); break;
	case SYS_openat:
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
#endif
		answer_own(&call, answer_open);
		break;
	case SYS_unlinkat:
	case SYS_renameat2:
	case SYS_mkdirat:
	case SYS_linkat:
	case SYS_symlinkat:
	case SYS_mknodat:
#ifdef SYS_renameat
	case SYS_renameat:
#endif
#ifdef SYS_rename
	case SYS_rename:
	case SYS_unlink:
	case SYS_rmdir:
	case SYS_mkdir:
	case SYS_link:
	case SYS_symlink:
	case SYS_mknod:
#endif
		answer_own(&call, answer_change);
		break;
	case SYS_truncate:
		answer_own(&call, landlock_is_before(plan, 3) || plan->kept_count ? answer_emptying : answer_change);
		break;
	default:
		if (answer_metadata(&call))
			break;
		/* Trapped by the filter and forgotten here: not there, rather than let through. */
		respond(&call, 0, ENOSYS);
	}
}
