/*
 * memfd_create() under a memory limit.
 *
 * A memory file is held by whoever has a descriptor of it, and a descriptor can
 * lie in the queue of a socket, where nobody sees it. So the keeper makes the
 * file, gives the tool a second, separate opening of it, and the supervisor
 * keeps the first: it can always ask how large the file is, and, by a write
 * lease, whether anybody else still has it open.
 */
#include "keeper/limits/memory-files.h"
#include "wire/packets.h"
#include "wire/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void answer_memory_file(const struct notification *call)
{
	unsigned flags = unsigned_argument(call, 1);
	char name[256], path[64];

	if (!read_tool_string(call, call->request->data.args[0], name, sizeof name)) {
		respond(call, 0, EFAULT);
		return;
	}
	CLOSE_ON_RETURN int made = flags & MFD_HUGETLB ? -1 : (int)syscall(SYS_memfd_create, name, flags | MFD_CLOEXEC);
	if (made < 0) {
		respond(call, 0, flags & MFD_HUGETLB ? EINVAL : errno);
		return;
	}
	/* Opened anew for both: the descriptor that it was made with does not count as an opening. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", made);
	CLOSE_ON_RETURN int given = open(path, O_RDWR | O_CLOEXEC);
	CLOSE_ON_RETURN int kept = open(path, O_RDWR | O_CLOEXEC);
	if (given < 0 || kept < 0) {
		respond(call, 0, errno);
		return;
	}
	send_packet(call->supervisor, PACKET_MEMORY_FILE, 0, NULL, kept);
	hand_over(call, given, flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
}
