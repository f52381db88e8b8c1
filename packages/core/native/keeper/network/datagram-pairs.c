/*
 * socketpair() of Unix datagram sockets.
 *
 * Either end of such a pair could send to any socket that the tool can name, of the host too, without connect().
 * So the keeper makes a pair of packet sockets instead. Messages keep their bounds as well, and an address that is
 * sent along is ignored. What differs: a closed peer is an end of input, and SO_TYPE tells.
 */
#include "keeper/network/datagram-pairs.h"

#include <sys/uio.h>

static bool write_tool_memory(const struct notification *call, uint64_t address, void *from, size_t length)
{
	struct iovec local = { from, length }, remote = { (void *)address, length };
	char path[64];

	if (!still_waiting(call))
		return false;
	if (process_vm_writev(call->request->pid, &local, 1, &remote, 1, 0) == (ssize_t)length)
		return true;
	snprintf(path, sizeof path, "/proc/%d/mem", tool_in_proc(call));
	CLOSE_ON_RETURN int memory = open(path, O_WRONLY | O_CLOEXEC);
	return memory >= 0 && still_waiting(call) && pwrite(memory, from, length, address) == (ssize_t)length;
}

int answer_socket_pair(const struct notification *call)
{
	int type = int_argument(call, 1), pair[2], given[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (type & SOCK_NONBLOCK), 0, pair) < 0)
		return errno;
	CLOSE_ON_RETURN int first = pair[0];
	CLOSE_ON_RETURN int second = pair[1];
	given[0] = add_descriptor(call, first, 0, 0, type);
	given[1] = given[0] < 0 ? -1 : add_descriptor(call, second, 0, 0, type);
	if (given[1] < 0)
		return errno == EMFILE ? EMFILE : EPERM;
	return write_tool_memory(call, argument(call, 3), given, sizeof given) ? 0 : EFAULT;
}
