/*
 * socketpair() of Unix datagram sockets.
 *
 * Either end of such a pair could send to any socket that the tool can name, of the host too, without connect().
 * So the keeper makes a pair of packet sockets instead. Messages keep their bounds as well, and an address that is
 * sent along is ignored. What differs: a closed peer is an end of input, and SO_TYPE tells.
 */
#include "keeper/network/datagram-pairs.h"
#include "wire/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static bool write_tool_memory(const struct notification *call, uint64_t address, void *from, size_t length)
{
	struct iovec local = { from, length }, remote = { (void *)address, length };
	char path[64];

	if (!still_waiting(call))
		return false;
	if (process_vm_writev(call->request->pid, &local, 1, &remote, 1, 0) == (ssize_t)length)
		return true;
	snprintf(path, sizeof path, "/proc/%d/mem", number_in_proc(call, call->request->pid));
	CLOSE_ON_RETURN int memory = open(path, O_WRONLY | O_CLOEXEC);
	return memory >= 0 && still_waiting(call) && pwrite(memory, from, length, address) == (ssize_t)length;
}

static int give(const struct notification *call, int socket, int type)
{
	struct seccomp_notif_addfd addition = {
		.id = call->request->id,
		.srcfd = socket,
		.newfd_flags = type & SOCK_CLOEXEC ? O_CLOEXEC : 0,
	};

	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addition);
}

void answer_socket_pair(const struct notification *call)
{
	int type = int_argument(call, 1), pair[2], given[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (type & SOCK_NONBLOCK), 0, pair) < 0) {
		respond(call, 0, errno);
		return;
	}
	CLOSE_ON_RETURN int first = pair[0];
	CLOSE_ON_RETURN int second = pair[1];
	given[0] = give(call, first, type);
	given[1] = given[0] < 0 ? -1 : give(call, second, type);
	if (given[1] < 0)
		respond(call, 0, errno == EMFILE ? EMFILE : EPERM);
	else
		respond(call, 0,
			write_tool_memory(call, call->request->data.args[3], given, sizeof given) ? 0 : EFAULT);
}
