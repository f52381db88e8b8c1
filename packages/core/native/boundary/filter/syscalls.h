/*
 * The system calls of a cell: ALLOW(name), REFUSE(name), or CALL(name, verdict) for one that is checked (verdicts.c).
 *
 * What is not listed answers ENOSYS, as on an older kernel, so that libraries fall back (clone3 to clone, io_uring to
 * epoll, openat2 to openat). REFUSE answers EPERM, which programs expect of these calls.
 *
 * Left out on purpose: clone3 and openat2 carry what must be checked (namespace flags, set-id modes) behind a pointer
 * that a filter cannot follow. io_uring does I/O past the filter. SysV IPC and POSIX queues hold memory that no limit
 * of the cell counts, and vmsplice pins huge pages that nobody has mapped.
 */

/* clang-format off */

/* files */
ALLOW(read) ALLOW(write) ALLOW(readv) ALLOW(writev) ALLOW(pread64) ALLOW(pwrite64) ALLOW(preadv) ALLOW(pwritev)
ALLOW(preadv2) ALLOW(pwritev2) ALLOW(lseek) ALLOW(close) ALLOW(close_range) CALL(openat, OPEN_AT) ALLOW(newfstatat)
ALLOW(fstat) ALLOW(statx) ALLOW(statfs) ALLOW(fstatfs) ALLOW(faccessat) ALLOW(faccessat2) ALLOW(readlinkat)
ALLOW(getdents64) CALL(mkdirat, CHANGE) CALL(unlinkat, REMOVE_AT) CALL(renameat, CHANGE) CALL(renameat2, CHANGE)
CALL(linkat, CHANGE) CALL(symlinkat, CHANGE) CALL(mknodat, NODE_AT) CALL(truncate, TRUNCATE) ALLOW(ftruncate)
ALLOW(fallocate) ALLOW(chdir) ALLOW(fchdir) ALLOW(getcwd) ALLOW(umask) ALLOW(dup) ALLOW(dup3) CALL(fcntl, DESCRIPTOR)
ALLOW(flock) CALL(ioctl, IOCTL) ALLOW(pipe2) ALLOW(sendfile) ALLOW(splice) ALLOW(tee) ALLOW(copy_file_range) ALLOW(sync)
ALLOW(fsync) ALLOW(fdatasync) ALLOW(sync_file_range) ALLOW(syncfs) ALLOW(readahead) ALLOW(fadvise64) ALLOW(cachestat)
CALL(getxattr, ATTRIBUTES) CALL(lgetxattr, ATTRIBUTES) ALLOW(fgetxattr) CALL(listxattr, ATTRIBUTES)
CALL(llistxattr, ATTRIBUTES) ALLOW(flistxattr) CALL(inotify_init1, INOTIFY) ALLOW(inotify_add_watch)
ALLOW(inotify_rm_watch)

/* what only a mount namespace keeps to the granted files */
CALL(fchmod, MODE_OF_FD) CALL(fchmodat, MODE_AT) CALL(fchmodat2, MODE_AT) CALL(fchown, METADATA)
CALL(fchownat, METADATA) CALL(utimensat, METADATA) CALL(setxattr, METADATA) CALL(lsetxattr, METADATA)
CALL(fsetxattr, METADATA) CALL(removexattr, METADATA) CALL(lremovexattr, METADATA) CALL(fremovexattr, METADATA)

/* waiting */
ALLOW(epoll_create1) ALLOW(epoll_ctl) ALLOW(epoll_pwait) ALLOW(epoll_pwait2) ALLOW(ppoll) ALLOW(pselect6)
ALLOW(eventfd2) ALLOW(signalfd4) ALLOW(timerfd_create) ALLOW(timerfd_settime) ALLOW(timerfd_gettime)

/* memory */
CALL(mmap, MAPPING) ALLOW(munmap) ALLOW(mprotect) ALLOW(mremap) ALLOW(madvise) ALLOW(brk) ALLOW(msync) ALLOW(mincore)
ALLOW(mlock) ALLOW(mlock2) ALLOW(munlock) ALLOW(mlockall) ALLOW(munlockall) ALLOW(membarrier) ALLOW(pkey_alloc)
ALLOW(pkey_free) ALLOW(pkey_mprotect) ALLOW(map_shadow_stack) ALLOW(mseal) ALLOW(get_mempolicy) ALLOW(set_mempolicy)
ALLOW(mbind) ALLOW(set_mempolicy_home_node) CALL(memfd_create, ANONYMOUS_FILE)

/* processes */
CALL(clone, CLONE) CALL(execve, EXECUTE) CALL(execveat, EXECUTE_AT) ALLOW(exit) ALLOW(exit_group) ALLOW(wait4)
ALLOW(waitid) ALLOW(set_tid_address) ALLOW(set_robust_list) ALLOW(get_robust_list) ALLOW(futex) ALLOW(futex_waitv)
ALLOW(futex_wake) ALLOW(futex_wait) ALLOW(futex_requeue) ALLOW(rseq) ALLOW(restart_syscall) CALL(prctl, PRCTL)
CALL(personality, PERSONALITY) ALLOW(getpid) ALLOW(gettid) ALLOW(getppid) ALLOW(getpgid) ALLOW(getsid) ALLOW(setpgid)
ALLOW(setsid) ALLOW(getuid) ALLOW(geteuid) ALLOW(getgid) ALLOW(getegid) ALLOW(getresuid) ALLOW(getresgid)
ALLOW(getgroups) ALLOW(setuid) ALLOW(setgid) ALLOW(setreuid) ALLOW(setregid) ALLOW(setresuid) ALLOW(setresgid)
ALLOW(setfsuid) ALLOW(setfsgid) ALLOW(setgroups) ALLOW(capget) ALLOW(capset) ALLOW(getrusage) ALLOW(times)
ALLOW(getpriority) ALLOW(ioprio_get) ALLOW(getcpu) ALLOW(sched_yield) ALLOW(sched_getaffinity) ALLOW(sched_getparam)
ALLOW(sched_getscheduler) ALLOW(sched_getattr) ALLOW(sched_get_priority_max) ALLOW(sched_get_priority_min)
ALLOW(sched_rr_get_interval) CALL(prlimit64, OWN_LIMIT) CALL(sched_setaffinity, OWN_PROCESS)
CALL(sched_setparam, OWN_PROCESS) CALL(sched_setscheduler, OWN_PROCESS) CALL(sched_setattr, OWN_PROCESS)
CALL(setpriority, PRIORITY) CALL(ioprio_set, IO_PRIORITY) ALLOW(getrlimit) CALL(setrlimit, CORE_LIMIT) ALLOW(sysinfo)
ALLOW(uname) ALLOW(pidfd_open)

/* signals */
CALL(kill, SIGNAL) CALL(tkill, SIGNAL) CALL(tgkill, SIGNAL) CALL(pidfd_send_signal, SIGNAL)
CALL(rt_sigqueueinfo, SIGNAL) CALL(rt_tgsigqueueinfo, SIGNAL) ALLOW(rt_sigaction) ALLOW(rt_sigprocmask)
ALLOW(rt_sigreturn) ALLOW(rt_sigsuspend) ALLOW(rt_sigpending) ALLOW(rt_sigtimedwait) ALLOW(sigaltstack)

/* time */
ALLOW(nanosleep) ALLOW(clock_nanosleep) ALLOW(clock_gettime) ALLOW(clock_getres) ALLOW(gettimeofday) ALLOW(getitimer)
ALLOW(setitimer) ALLOW(timer_create) ALLOW(timer_settime) ALLOW(timer_gettime) ALLOW(timer_getoverrun)
ALLOW(timer_delete) ALLOW(getrandom)

/* sockets */
CALL(socket, SOCKET) CALL(socketpair, SOCKET_PAIR) CALL(connect, CONNECT) CALL(listen, LISTEN) CALL(bind, BIND)
ALLOW(accept) ALLOW(accept4) ALLOW(getsockname) ALLOW(getpeername) CALL(sendto, SEND_FOURTH) CALL(sendmsg, SEND_THIRD)
CALL(sendmmsg, SEND_FOURTH) ALLOW(recvfrom) ALLOW(recvmsg) ALLOW(recvmmsg) CALL(setsockopt, OPTION) ALLOW(getsockopt)
ALLOW(shutdown)

/* debuggers: Landlock keeps them to the processes of the call, and the keeper cannot be traced by anybody */
ALLOW(ptrace) ALLOW(process_vm_readv) ALLOW(process_vm_writev)

/* a cell inside a cell can only be narrower */
ALLOW(seccomp) ALLOW(landlock_create_ruleset) ALLOW(landlock_add_rule) ALLOW(landlock_restrict_self)

/* refused in so many words */
REFUSE(unshare) REFUSE(setns) REFUSE(mount) REFUSE(umount2) REFUSE(pivot_root) REFUSE(chroot) REFUSE(open_tree)
REFUSE(move_mount) REFUSE(fsopen) REFUSE(fsconfig) REFUSE(fsmount) REFUSE(fspick) REFUSE(mount_setattr) REFUSE(swapon)
REFUSE(swapoff) REFUSE(reboot) REFUSE(settimeofday) REFUSE(clock_settime) REFUSE(clock_adjtime) REFUSE(adjtimex)
REFUSE(sethostname) REFUSE(setdomainname) REFUSE(init_module) REFUSE(finit_module) REFUSE(delete_module)
REFUSE(kexec_load) REFUSE(kexec_file_load) REFUSE(bpf) REFUSE(perf_event_open) REFUSE(userfaultfd) REFUSE(kcmp)
REFUSE(pidfd_getfd) REFUSE(process_madvise) REFUSE(process_mrelease) REFUSE(move_pages) REFUSE(migrate_pages)
REFUSE(keyctl) REFUSE(add_key) REFUSE(request_key) REFUSE(syslog) REFUSE(acct) REFUSE(quotactl) REFUSE(quotactl_fd)
REFUSE(name_to_handle_at) REFUSE(open_by_handle_at) REFUSE(fanotify_init) REFUSE(fanotify_mark) REFUSE(vhangup)
REFUSE(memfd_secret)

#ifdef __x86_64__
/* the older spellings, which x86_64 still has */
CALL(open, OPEN) CALL(creat, CREATE) ALLOW(stat) ALLOW(lstat) ALLOW(access) ALLOW(readlink) ALLOW(getdents)
CALL(mkdir, CHANGE) CALL(rmdir, CHANGE) CALL(unlink, CHANGE) CALL(rename, CHANGE) CALL(link, CHANGE)
CALL(symlink, CHANGE) CALL(mknod, NODE) ALLOW(dup2) ALLOW(pipe) CALL(chmod, MODE_OF_FD) CALL(chown, METADATA)
CALL(lchown, METADATA) CALL(utime, METADATA) CALL(utimes, METADATA) CALL(futimesat, METADATA) ALLOW(epoll_create)
ALLOW(epoll_wait) CALL(epoll_ctl_old, NOT_THERE) ALLOW(poll) ALLOW(select) ALLOW(eventfd) ALLOW(signalfd)
CALL(inotify_init, INOTIFY) CALL(fork, FORK) CALL(vfork, FORK) ALLOW(getpgrp) ALLOW(arch_prctl) ALLOW(pause)
ALLOW(alarm) ALLOW(time) REFUSE(iopl) REFUSE(ioperm) REFUSE(modify_ldt) REFUSE(uselib) REFUSE(ustat)
REFUSE(create_module) REFUSE(lookup_dcookie)
#endif
