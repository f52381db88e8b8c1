/* Which part of the keeper answers which trapped system call of the tool. */
#include "keeper/answer.h"
#include "boundary/landlock.h"
#include "keeper/files/metadata.h"
#include "keeper/files/refused-changes.h"
#include "keeper/limits/signals.h"
#include "keeper/network/bind.h"
#include "keeper/network/connect.h"
#include "keeper/network/datagram-pairs.h"
#include "keeper/network/stand-in.h"
#include "processes/proc.h"

void begin_answers(struct remembered *remembered, const struct plan *plan, int supervisor)
{
	pid_t own = own_pid_in_proc();

	*remembered = (struct remembered){ .call = {
						   .plan = plan,
						   .supervisor = supervisor,
						   .keeper_in_proc = own == getpid() ? 0 : own,
						   .told = &remembered->told,
						   .attempts = &remembered->attempts,
						   .terminals = &remembered->terminals,
						   .nest = &remembered->nest,
					   } };
	/* Inside another cell the outer keeper answers. */
	if (!plan->network_nested && open_broker(&remembered->broker, plan, supervisor, &remembered->told))
		remembered->call.broker = &remembered->broker;
	open_nest(&remembered->nest, plan, plan->network_brokered ? remembered->call.broker : NULL);
}

/*
 * execve() where the programs are limited. Landlock decides which files may be executed. One thing it cannot tell
 * apart: the dynamic loader must be executable for the kernel to use it, and would then run any program that it is
 * given as an argument. That is refused here. (Whoever can race this look with a second thread runs native code
 * already, and needs no loader to run more.)
 */
static int answer_execute(const struct notification *call)
{
	const struct path_list *programs = &call->plan->programs;
	char path[PATH_MAX], real[PATH_MAX];

	if (!read_tool_string(call, argument(call, 0), path, sizeof path))
		return EFAULT;
	CLOSE_ON_RETURN int object = open_tool_path(call, AT_FDCWD, path, 0);
	if (object < 0)
		return errno;
	if (path_of_descriptor(object, real, sizeof real))
		for (size_t i = 0; i < programs->count; i++)
			if (strcmp(real, programs->at[i]) == 0)
				return LET_THROUGH;
	report_path_violation(call, "exec", path);
	return EACCES;
}

/* We carry this out for the tool of this cell alone: where a cell inside it asks, the kernel decides. */
static int answer_own(const struct notification *call, int (*answer_call)(const struct notification *call))
{
	int answer = answer_nested_file(call);

	return answer == NOT_OURS ? answer_call(call) : answer;
}

static int answer_call(const struct notification *call, struct remembered *remembered)
{
	switch (call->request->data.nr) {
	case SYS_clone:
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
#endif
		return answer_fork(call, &remembered->tasks);
	case SYS_execve: return answer_execute(call);
	case SYS_memfd_create: return answer_memory_file(call);
	case SYS_mmap: return answer_shared_mapping(call, &remembered->charges);
	case SYS_connect: return answer_connect(call);
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_pidfd_send_signal:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo: return answer_signal(call);
	case SYS_socket: return answer_socket(call);
	case SYS_inotify_init1:
#ifdef SYS_inotify_init
	case SYS_inotify_init:
#endif
		return answer_inotify(&remembered->inotify_instances);
	case SYS_bind: return answer_own(call, answer_bind);
	case SYS_ioctl: return answer_ioctl(call);
	case SYS_socketpair: return answer_socket_pair(call);
	case SYS_listen: return answer_listen(call);
	case SYS_openat:
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
#endif
		return answer_own(call, answer_open);
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
		return answer_own(call, answer_change);
	case SYS_truncate:
		return answer_own(call, landlock_is_before(call->plan, 3) || call->plan->kept.count ? answer_metadata
												    : answer_change);
	default: return answer_metadata(call);
	}
}

void answer_notification(struct remembered *remembered, int listener)
{
	struct seccomp_notif request = { 0 };
	struct notification call = remembered->call;

	call.request = &request;
	call.listener = listener;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return; /* the tool was killed between poll and here */
	int answer = answer_call(&call, remembered);
	/* Trapped by the filter and forgotten here: not there, rather than let through. */
	respond(&call, answer == NOT_OURS ? ENOSYS : answer);
}
