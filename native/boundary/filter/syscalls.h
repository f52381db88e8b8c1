/*
 * The system calls of a cell: one line each, as CALL(name, verdict).
 *
 * What is not listed answers ENOSYS, as on an older kernel, so that libraries
 * fall back (clone3 to clone, io_uring to epoll, openat2 to openat). REFUSE
 * answers EPERM: calls that programs expect to be told "not you". The other
 * verdicts look at arguments and are explained in verdicts.c.
 *
 * Left out on purpose: clone3 and openat2 carry what must be checked (namespace
 * flags, set-id modes) behind a pointer that a filter cannot follow; io_uring
 * does I/O past the filter; SysV IPC and POSIX queues hold memory that no limit
 * of the cell counts, and vmsplice pins huge pages that nobody has mapped.
 */

/* clang-format off */

/* files */
CALL(read, ALLOW) CALL(write, ALLOW) CALL(readv, ALLOW) CALL(writev, ALLOW)
CALL(pread64, ALLOW) CALL(pwrite64, ALLOW) CALL(preadv, ALLOW) CALL(pwritev, ALLOW)
CALL(preadv2, ALLOW) CALL(pwritev2, ALLOW) CALL(lseek, ALLOW) CALL(close, ALLOW) CALL(close_range, ALLOW)
CALL(openat, OPEN_AT) CALL(newfstatat, ALLOW) CALL(fstat, ALLOW) CALL(statx, ALLOW)
CALL(statfs, ALLOW) CALL(fstatfs, ALLOW) CALL(faccessat, ALLOW) CALL(faccessat2, ALLOW)
CALL(readlinkat, ALLOW) CALL(getdents64, ALLOW) CALL(mkdirat, CHANGE) CALL(unlinkat, REMOVE_AT)
CALL(renameat, CHANGE) CALL(renameat2, CHANGE) CALL(linkat, CHANGE) CALL(symlinkat, CHANGE)
CALL(mknodat, NODE_AT) CALL(truncate, TRUNCATE) CALL(ftruncate, ALLOW) CALL(fallocate, ALLOW)
CALL(chdir, ALLOW) CALL(fchdir, ALLOW) CALL(getcwd, ALLOW) CALL(umask, ALLOW)
CALL(dup, ALLOW) CALL(dup3, ALLOW) CALL(fcntl, DESCRIPTOR) CALL(flock, ALLOW) CALL(ioctl, IOCTL)
CALL(pipe2, ALLOW) CALL(sendfile, ALLOW) CALL(splice, ALLOW) CALL(tee, ALLOW)
CALL(copy_file_range, ALLOW) CALL(sync, ALLOW) CALL(fsync, ALLOW) CALL(fdatasync, ALLOW)
CALL(sync_file_range, ALLOW) CALL(syncfs, ALLOW) CALL(readahead, ALLOW) CALL(fadvise64, ALLOW) CALL(cachestat, ALLOW)
CALL(getxattr, ATTRIBUTES) CALL(lgetxattr, ATTRIBUTES) CALL(fgetxattr, ALLOW)
CALL(listxattr, ATTRIBUTES) CALL(llistxattr, ATTRIBUTES) CALL(flistxattr, ALLOW)
CALL(inotify_init1, INOTIFY) CALL(inotify_add_watch, ALLOW) CALL(inotify_rm_watch, ALLOW)

/* what only a mount namespace keeps to the granted files */
CALL(fchmod, MODE_OF_FD) CALL(fchmodat, MODE_AT) CALL(fchmodat2, MODE_AT)
CALL(fchown, METADATA) CALL(fchownat, METADATA) CALL(utimensat, METADATA)
CALL(setxattr, METADATA) CALL(lsetxattr, METADATA) CALL(fsetxattr, METADATA)
CALL(removexattr, METADATA) CALL(lremovexattr, METADATA) CALL(fremovexattr, METADATA)

/* waiting */
CALL(epoll_create1, ALLOW) CALL(epoll_ctl, ALLOW) CALL(epoll_pwait, ALLOW) CALL(epoll_pwait2, ALLOW)
CALL(ppoll, ALLOW) CALL(pselect6, ALLOW) CALL(eventfd2, ALLOW) CALL(signalfd4, ALLOW)
CALL(timerfd_create, ALLOW) CALL(timerfd_settime, ALLOW) CALL(timerfd_gettime, ALLOW)

/* memory */
CALL(mmap, MAPPING) CALL(munmap, ALLOW) CALL(mprotect, ALLOW) CALL(mremap, ALLOW) CALL(madvise, ALLOW)
CALL(brk, ALLOW) CALL(msync, ALLOW) CALL(mincore, ALLOW) CALL(mlock, ALLOW) CALL(mlock2, ALLOW)
CALL(munlock, ALLOW) CALL(mlockall, ALLOW) CALL(munlockall, ALLOW) CALL(membarrier, ALLOW)
CALL(pkey_alloc, ALLOW) CALL(pkey_free, ALLOW) CALL(pkey_mprotect, ALLOW) CALL(map_shadow_stack, ALLOW)
CALL(mseal, ALLOW)
CALL(get_mempolicy, ALLOW) CALL(set_mempolicy, ALLOW) CALL(mbind, ALLOW) CALL(set_mempolicy_home_node, ALLOW)
CALL(memfd_create, ANONYMOUS_FILE)

/* processes */
CALL(clone, CLONE) CALL(execve, EXECUTE) CALL(execveat, EXECUTE_AT)
CALL(exit, ALLOW) CALL(exit_group, ALLOW) CALL(wait4, ALLOW) CALL(waitid, ALLOW)
CALL(set_tid_address, ALLOW) CALL(set_robust_list, ALLOW) CALL(get_robust_list, ALLOW)
CALL(futex, ALLOW) CALL(futex_waitv, ALLOW) CALL(futex_wake, ALLOW) CALL(futex_wait, ALLOW) CALL(futex_requeue, ALLOW)
CALL(rseq, ALLOW) CALL(restart_syscall, ALLOW) CALL(prctl, PRCTL) CALL(personality, PERSONALITY)
CALL(getpid, ALLOW) CALL(gettid, ALLOW) CALL(getppid, ALLOW) CALL(getpgid, ALLOW) CALL(getsid, ALLOW)
CALL(setpgid, ALLOW) CALL(setsid, ALLOW) CALL(getuid, ALLOW) CALL(geteuid, ALLOW) CALL(getgid, ALLOW)
CALL(getegid, ALLOW) CALL(getresuid, ALLOW) CALL(getresgid, ALLOW) CALL(getgroups, ALLOW)
CALL(setuid, ALLOW) CALL(setgid, ALLOW) CALL(setreuid, ALLOW) CALL(setregid, ALLOW) CALL(setresuid, ALLOW)
CALL(setresgid, ALLOW) CALL(setfsuid, ALLOW) CALL(setfsgid, ALLOW) CALL(setgroups, ALLOW)
CALL(capget, ALLOW) CALL(capset, ALLOW)
CALL(getrusage, ALLOW) CALL(times, ALLOW) CALL(getpriority, ALLOW) CALL(ioprio_get, ALLOW) CALL(getcpu, ALLOW)
CALL(sched_yield, ALLOW) CALL(sched_getaffinity, ALLOW) CALL(sched_getparam, ALLOW) CALL(sched_getscheduler, ALLOW)
CALL(sched_getattr, ALLOW) CALL(sched_get_priority_max, ALLOW) CALL(sched_get_priority_min, ALLOW)
CALL(sched_rr_get_interval, ALLOW)
CALL(prlimit64, OWN_LIMIT) CALL(sched_setaffinity, OWN_PROCESS) CALL(sched_setparam, OWN_PROCESS)
CALL(sched_setscheduler, OWN_PROCESS) CALL(sched_setattr, OWN_PROCESS)
CALL(setpriority, PRIORITY) CALL(ioprio_set, IO_PRIORITY)
CALL(getrlimit, ALLOW) CALL(setrlimit, CORE_LIMIT) CALL(sysinfo, ALLOW) CALL(uname, ALLOW)
CALL(pidfd_open, ALLOW)

/* signals */
CALL(kill, SIGNAL) CALL(tkill, SIGNAL) CALL(tgkill, SIGNAL) CALL(pidfd_send_signal, SIGNAL)
CALL(rt_sigqueueinfo, SIGNAL) CALL(rt_tgsigqueueinfo, SIGNAL)
CALL(rt_sigaction, ALLOW) CALL(rt_sigprocmask, ALLOW) CALL(rt_sigreturn, ALLOW) CALL(rt_sigsuspend, ALLOW)
CALL(rt_sigpending, ALLOW) CALL(rt_sigtimedwait, ALLOW) CALL(sigaltstack, ALLOW)

/* time */
CALL(nanosleep, ALLOW) CALL(clock_nanosleep, ALLOW) CALL(clock_gettime, ALLOW) CALL(clock_getres, ALLOW)
CALL(gettimeofday, ALLOW) CALL(getitimer, ALLOW) CALL(setitimer, ALLOW) CALL(timer_create, ALLOW)
CALL(timer_settime, ALLOW) CALL(timer_gettime, ALLOW) CALL(timer_getoverrun, ALLOW) CALL(timer_delete, ALLOW)
CALL(getrandom, ALLOW)

/* sockets */
CALL(socket, SOCKET) CALL(socketpair, SOCKET_PAIR) CALL(connect, CONNECT) CALL(listen, LISTEN)
CALL(bind, BIND) CALL(accept, ALLOW) CALL(accept4, ALLOW) CALL(getsockname, ALLOW) CALL(getpeername, ALLOW)
CALL(sendto, SEND_FOURTH) CALL(sendmsg, SEND_THIRD) CALL(sendmmsg, SEND_FOURTH)
CALL(recvfrom, ALLOW) CALL(recvmsg, ALLOW) CALL(recvmmsg, ALLOW)
CALL(setsockopt, OPTION) CALL(getsockopt, ALLOW) CALL(shutdown, ALLOW)

/* debuggers: Landlock keeps them to the processes of the call, and the keeper cannot be traced by anybody */
CALL(ptrace, ALLOW) CALL(process_vm_readv, ALLOW) CALL(process_vm_writev, ALLOW)

/* a cell inside a cell can only be narrower */
CALL(seccomp, ALLOW) CALL(landlock_create_ruleset, ALLOW) CALL(landlock_add_rule, ALLOW)
CALL(landlock_restrict_self, ALLOW)

/* refused in so many words */
CALL(unshare, REFUSE) CALL(setns, REFUSE) CALL(mount, REFUSE) CALL(umount2, REFUSE) CALL(pivot_root, REFUSE)
CALL(chroot, REFUSE) CALL(open_tree, REFUSE) CALL(move_mount, REFUSE) CALL(fsopen, REFUSE) CALL(fsconfig, REFUSE)
CALL(fsmount, REFUSE) CALL(fspick, REFUSE) CALL(mount_setattr, REFUSE) CALL(swapon, REFUSE) CALL(swapoff, REFUSE)
CALL(reboot, REFUSE) CALL(settimeofday, REFUSE) CALL(clock_settime, REFUSE) CALL(clock_adjtime, REFUSE)
CALL(adjtimex, REFUSE) CALL(sethostname, REFUSE) CALL(setdomainname, REFUSE) CALL(init_module, REFUSE)
CALL(finit_module, REFUSE) CALL(delete_module, REFUSE) CALL(kexec_load, REFUSE) CALL(kexec_file_load, REFUSE)
CALL(bpf, REFUSE) CALL(perf_event_open, REFUSE) CALL(userfaultfd, REFUSE)
CALL(kcmp, REFUSE) CALL(pidfd_getfd, REFUSE)
CALL(process_madvise, REFUSE) CALL(process_mrelease, REFUSE) CALL(move_pages, REFUSE) CALL(migrate_pages, REFUSE)
CALL(keyctl, REFUSE) CALL(add_key, REFUSE) CALL(request_key, REFUSE) CALL(syslog, REFUSE) CALL(acct, REFUSE)
CALL(quotactl, REFUSE) CALL(quotactl_fd, REFUSE) CALL(name_to_handle_at, REFUSE) CALL(open_by_handle_at, REFUSE)
CALL(fanotify_init, REFUSE) CALL(fanotify_mark, REFUSE) CALL(vhangup, REFUSE) CALL(memfd_secret, REFUSE)

#ifdef __x86_64__
/* the older spellings, which x86_64 still has */
CALL(open, OPEN) CALL(creat, CREATE) CALL(stat, ALLOW) CALL(lstat, ALLOW) CALL(access, ALLOW) CALL(readlink, ALLOW)
CALL(getdents, ALLOW) CALL(mkdir, CHANGE) CALL(rmdir, CHANGE) CALL(unlink, CHANGE) CALL(rename, CHANGE)
CALL(link, CHANGE)
CALL(symlink, CHANGE) CALL(mknod, NODE) CALL(dup2, ALLOW) CALL(pipe, ALLOW)
CALL(chmod, MODE_OF_FD) CALL(chown, METADATA) CALL(lchown, METADATA)
CALL(utime, METADATA) CALL(utimes, METADATA) CALL(futimesat, METADATA)
CALL(epoll_create, ALLOW) CALL(epoll_wait, ALLOW) CALL(epoll_ctl_old, NOT_THERE) CALL(poll, ALLOW) CALL(select, ALLOW)
CALL(eventfd, ALLOW) CALL(signalfd, ALLOW) CALL(inotify_init, INOTIFY)
CALL(fork, FORK) CALL(vfork, FORK) CALL(getpgrp, ALLOW) CALL(arch_prctl, ALLOW)
CALL(pause, ALLOW) CALL(alarm, ALLOW) CALL(time, ALLOW)
CALL(iopl, REFUSE) CALL(ioperm, REFUSE) CALL(modify_ldt, REFUSE) CALL(uselib, REFUSE) CALL(ustat, REFUSE)
CALL(create_module, REFUSE) CALL(lookup_dcookie, REFUSE)
#endif
