/*
 * memfd_create() under a memory limit.
 *
 * A memory file is held by whoever has a descriptor of it, and a descriptor can
 * lie in the queue of a socket, where nobody sees it. So the keeper makes the
 * file, gives the tool a second, separate opening of it, and the supervisor
 * keeps the first: it can always ask how large the file is, and, by a write
 * lease, whether anybody else still has it open.
 */
#include "wire/cell.h"
#include "wire/kernel.h"
#include "keeper/notify.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

void answer_memory_file(const struct notification *call)
{
	unsigned flags = call->request->data.args[1];
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

void keep_memory_file(struct memory_files *files, int file)
{
	if (files->count == files->room) {
		files->room = files->room ? files->room * 2 : 32;
		files->at = realloc(files->at, files->room * sizeof *files->at);
		if (!files->at)
			abort();
	}
	files->at[files->count++] = file;
}

/* Nobody has it open. Emptied, because a mere reference (O_PATH) would still keep its pages. */
static bool let_go(int file)
{
	if (fcntl(file, F_SETLEASE, F_WRLCK) < 0)
		return false;
	fcntl(file, F_SETLEASE, F_UNLCK);
	return ftruncate(file, 0) == 0;
}

uint64_t memory_files_in_use(struct memory_files *files)
{
	uint64_t bytes = 0;
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		struct stat status;
		if (fstat(files->at[i], &status) < 0 || let_go(files->at[i])) {
			close(files->at[i]);
			continue;
		}
		bytes += (uint64_t)status.st_blocks * 512;
		files->at[kept++] = files->at[i];
	}
	files->count = kept;
	return bytes;
}
