/* Kernel interfaces newer than the libc headers that this must compile with (Debian 12, Ubuntu 22.04). */
#ifndef CORDON_KERNEL_H
#define CORDON_KERNEL_H

#include <fcntl.h>
#include <linux/mount.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* openat2 */
struct cordon_open_how {
	uint64_t flags, mode, resolve;
};
#define CORDON_RESOLVE_NO_MAGICLINKS 0x02
#define CORDON_RESOLVE_NO_SYMLINKS 0x04
#define CORDON_RESOLVE_IN_ROOT 0x10

/* open-how.c */
int open_how(int at, const char *path, uint64_t flags, uint64_t resolve);

/* seccomp listeners */
#define CORDON_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#define CORDON_NOTIF_SYNC_WAKE_UP 1ul

/* mount_setattr */
struct cordon_mount_attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

/* Landlock, up to ABI 7 */
#define LL_EXECUTE (1ull << 0)
#define LL_WRITE_FILE (1ull << 1)
#define LL_READ_FILE (1ull << 2)
#define LL_READ_DIR (1ull << 3)
#define LL_REMOVE_DIR (1ull << 4)
#define LL_REMOVE_FILE (1ull << 5)
#define LL_MAKE_CHAR (1ull << 6)
#define LL_MAKE_DIR (1ull << 7)
#define LL_MAKE_REG (1ull << 8)
#define LL_MAKE_SOCK (1ull << 9)
#define LL_MAKE_FIFO (1ull << 10)
#define LL_MAKE_BLOCK (1ull << 11)
#define LL_MAKE_SYM (1ull << 12)
#define LL_REFER (1ull << 13)     /* ABI 2 */
#define LL_TRUNCATE (1ull << 14)  /* ABI 3 */
#define LL_IOCTL_DEV (1ull << 15) /* ABI 5 */
#define LL_NET_BIND_TCP (1ull << 0)    /* ABI 4 */
#define LL_NET_CONNECT_TCP (1ull << 1) /* ABI 4 */
#define LL_SCOPE_ABSTRACT_UNIX (1ull << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL (1ull << 1)        /* ABI 6 */

struct ll_ruleset {
	uint64_t handled_fs, handled_net, scoped;
};

struct ll_path_beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

#endif
