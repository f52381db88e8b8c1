/*
 * memfd_create() and shared anonymous memory under a memory limit. No figure of a process shows all of either.
 *
 * A memory file is held by whoever has a descriptor of it, and a descriptor can lie in the queue of a socket, where
 * nobody sees it. So the keeper makes the file, gives the tool a second, separate opening of it, and the supervisor
 * keeps the first: it can always ask how large the file is, and, by a write lease, whether anybody else has it open.
 *
 * Pages of a shared mapping belong to a nameless file in the kernel, which lives as long as any piece of it is mapped
 * anywhere. So each such mapping is charged with its size when it is made. When the charges reach the limit, the files
 * that still exist are counted, and the largest charges stand for them. All that is decided on travels in registers, so
 * the call itself is let through.
 */
#include "keeper/limits/memory.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/packets.h"

#include <linux/major.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

int answer_memory_file(const struct notification *call)
{
	unsigned flags = unsigned_argument(call, 1);
	char name[256];

	if (!read_tool_string(call, argument(call, 0), name, sizeof name))
		return EFAULT;
	if (flags & MFD_HUGETLB)
		return EINVAL;
	CLOSE_ON_RETURN int made = (int)syscall(SYS_memfd_create, name, flags | MFD_CLOEXEC);
	if (made < 0)
		return errno;
	/* Opened anew for both: the descriptor that it was made with does not count as an opening. */
	CLOSE_ON_RETURN int given = open(path_to(made).text, O_RDWR | O_CLOEXEC);
	CLOSE_ON_RETURN int kept = open(path_to(made).text, O_RDWR | O_CLOEXEC);
	if (given < 0 || kept < 0)
		return errno;
	send_packet(call->supervisor, PACKET_MEMORY_FILE, 0, NULL, kept);
	return hand_over(call, given, flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
}

struct nameless {
	uint64_t inodes[MOST_CHARGES];
	size_t count; /* more than there is room for: all charges stand */
};

static void add_inode(struct nameless *found, uint64_t inode)
{
	for (size_t i = 0; i < found->count && i < MOST_CHARGES; i++)
		if (found->inodes[i] == inode)
			return;
	if (found->count < MOST_CHARGES)
		found->inodes[found->count] = inode;
	found->count++;
}

static void add_mappings(pid_t pid, void *context)
{
	struct nameless *found = context;
	char path[64], line[512], access[8];
	uint64_t inode;

	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (!maps) {
		found->count = MOST_CHARGES; /* not ours to look into: none is known to be gone */
		return;
	}
	while (fgets(line, sizeof line, maps))
		if (strstr(line, " /dev/zero (deleted)") && sscanf(line, "%*s %7s %*s %*s %lu", access, &inode) == 2 &&
		    access[3] == 's')
			add_inode(found, inode);
	fclose(maps);
}

static int larger_first(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Nobody can tell which of them is whose: the largest stand for those that exist. */
static void recount(struct charges *charges)
{
	struct nameless found;

	found.count = 0;
	each_descendant(own_pid_in_proc(), add_mappings, &found);
	qsort(charges->bytes, charges->count, sizeof *charges->bytes, larger_first);
	if (found.count < charges->count)
		charges->count = found.count;
	charges->sum = 0;
	for (size_t i = 0; i < charges->count; i++)
		charges->sum += charges->bytes[i];
}

static bool exceeds(const struct charges *charges, uint64_t length, uint64_t limit)
{
	return charges->count == MOST_CHARGES || length > limit || charges->sum > limit - length;
}

static int charge(const struct notification *call, struct charges *charges)
{
	uint64_t limit = call->plan->limits.memory, length = argument(call, 1);
	char fields[128];

	if (exceeds(charges, length, limit))
		recount(charges);
	if (exceeds(charges, length, limit)) {
		snprintf(fields, sizeof fields, "\"limit\":%lu,\"used\":%lu,\"effect\":\"refused\"", limit,
			 charges->sum + length);
		report_violation(call, "memory", fields);
		return ENOMEM;
	}
	charges->bytes[charges->count++] = length;
	charges->sum += length;
	return LET_THROUGH;
}

int answer_shared_mapping(const struct notification *call, struct charges *charges)
{
	struct stat status;

	if (argument(call, 3) & MAP_ANONYMOUS)
		return charge(call, charges);
	/* Mapped as shared, /dev/zero is the same by another name. */
	CLOSE_ON_RETURN int object = open_tool_directory(call, int_argument(call, 4));
	bool is_zero_device = object >= 0 && fstat(object, &status) == 0 && S_ISCHR(status.st_mode) &&
			      status.st_rdev == makedev(MEM_MAJOR, 5);
	return is_zero_device ? ENODEV : LET_THROUGH;
}
