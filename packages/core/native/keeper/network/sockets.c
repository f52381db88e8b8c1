/* Whose socket is this? A socket file belongs to the call when one of the call's processes holds the socket. */
#include "keeper/network/sockets.h"
#include "processes/descendants.h"
#include "processes/proc.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/sysmacros.h>

struct wanted {
	uint32_t inode, device; /* of the file, as the kernel writes them into its answer */
	uint32_t socket; /* the socket's own number; 0 until found */
};

static uint32_t kernel_device(dev_t device)
{
	/* unix_diag gives the kernel's own dev_t: 12 bits of major, 20 of minor. */
	return major(device) << 20 | minor(device);
}

static void take_answer(const struct nlmsghdr *header, struct wanted *wanted)
{
	const struct unix_diag_msg *message = NLMSG_DATA(header);
	const struct nlattr *attribute = (const struct nlattr *)(message + 1);
	const char *end = (const char *)header + header->nlmsg_len;

	while ((const char *)(attribute + 1) <= end && attribute->nla_len >= sizeof *attribute) {
		if (attribute->nla_type == UNIX_DIAG_VFS) {
			const struct unix_diag_vfs *file = (const struct unix_diag_vfs *)(attribute + 1);
			if (file->udiag_vfs_ino == wanted->inode && file->udiag_vfs_dev == wanted->device)
				wanted->socket = message->udiag_ino;
		}
		attribute = (const struct nlattr *)((const char *)attribute + NLA_ALIGN(attribute->nla_len));
	}
}

/* The socket that is bound to a file, among those of this network namespace; 0 when there is none. */
static uint32_t socket_bound_to(const struct stat *status)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} question = {
		.header = { .nlmsg_len = sizeof question,
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_VFS },
	};
	struct wanted wanted = { (uint32_t)status->st_ino, kernel_device(status->st_dev), 0 };
	CLOSE_ON_RETURN int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char answers[16384] __attribute__((aligned(8)));

	if (fd < 0 || send(fd, &question, sizeof question, 0) < 0)
		return 0;
	for (;;) {
		ssize_t got = recv(fd, answers, sizeof answers, 0);
		if (got <= 0)
			return wanted.socket;
		for (struct nlmsghdr *header = (struct nlmsghdr *)answers; NLMSG_OK(header, got);
		     header = NLMSG_NEXT(header, got)) {
			if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
				return wanted.socket;
			take_answer(header, &wanted);
		}
	}
}

struct search {
	char link[48];
	bool found;
};

static void look_at_descriptor(pid_t pid, const char *descriptor, const char *target, void *context)
{
	struct search *search = context;

	(void)pid, (void)descriptor;
	search->found = search->found || strcmp(target, search->link) == 0;
}

static void look_at_descriptors(pid_t pid, void *context)
{
	struct search *search = context;

	if (!search->found)
		each_descriptor(pid, look_at_descriptor, search);
}

bool is_own_socket(int file)
{
	struct search search = { .found = false };
	struct stat status;

	if (fstat(file, &status) < 0 || !S_ISSOCK(status.st_mode))
		return false;
	uint32_t number = socket_bound_to(&status);
	if (number == 0)
		return false;
	snprintf(search.link, sizeof search.link, "socket:[%u]", number);
	each_descendant(own_pid_in_proc(), look_at_descriptors, &search);
	return search.found;
}
