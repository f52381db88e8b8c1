/*
 * Shared anonymous memory under a memory limit.
 *
 * Its pages belong to a nameless file in the kernel, which lives as long as any
 * piece of it is mapped anywhere: unmap all but one page, or give the rest back
 * with madvise(), and the pages stay while nobody's figures show them. So what
 * is charged is the size of each such mapping when it is made. When the charges
 * reach the limit, the files that still exist are counted, and the largest
 * charges stand for them.
 *
 * All that is decided on travels in registers, so the call itself is let through.
 */
#include "keeper/limits/shared-mappings.h"
#include "keeper/call/violations.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/scope.h"

#include <errno.h>
#include <linux/major.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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
	unsigned long long inode;

	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (!maps) {
		found->count = MOST_CHARGES; /* not ours to look into: none is known to be gone */
		return;
	}
	while (fgets(line, sizeof line, maps))
		if (strstr(line, " /dev/zero (deleted)") && sscanf(line, "%*s %7s %*s %*s %llu", access, &inode) == 2 &&
		    access[3] == 's')
			add_inode(found, inode);
	fclose(maps);
}

static int larger_first(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Which of them is whose cannot be told: the largest stand for those that exist. */
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

static void answer_anonymous(const struct notification *call, struct charges *charges)
{
	uint64_t limit = call->plan->limits.memory;
	uint64_t length = call->request->data.args[1];
	char fields[128];

	if (exceeds(charges, length, limit))
		recount(charges);
	if (!exceeds(charges, length, limit)) {
		charges->bytes[charges->count++] = length;
		charges->sum += length;
		let_through(call);
		return;
	}
	snprintf(fields, sizeof fields, "\"limit\":%llu,\"used\":%llu,\"effect\":\"refused\"",
		 (unsigned long long)limit, (unsigned long long)charges->sum + length);
	report_violation(call, "memory", fields);
	respond(call, 0, ENOMEM);
}

/* Mapped as shared, /dev/zero is the same by another name. */
static bool is_zero_device(const struct notification *call)
{
	CLOSE_ON_RETURN int object = open_tool_directory(call, int_argument(call, 4));
	struct stat status;

	return object >= 0 && fstat(object, &status) == 0 && S_ISCHR(status.st_mode) &&
	       status.st_rdev == makedev(MEM_MAJOR, 5);
}

void answer_shared_mapping(const struct notification *call, struct charges *charges)
{
	if (call->request->data.args[3] & MAP_ANONYMOUS)
		answer_anonymous(call, charges);
	else if (is_zero_device(call))
		respond(call, 0, ENODEV);
	else
		let_through(call);
}
