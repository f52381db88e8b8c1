/*
 * What a cell's processes really hold: pages shared between them count once,
 * memory files count even when nobody has mapped them, page tables count.
 */
#include "supervisor/memory.h"
#include "processes/descendants.h"
#include "processes/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_FILES 4096

struct holdings {
	dev_t device; /* whose nameless files are meant */
	uint64_t own, mapped_shared, nameless_files;
	ino_t seen[MEMORY_FILES]; /* counted once, however many processes hold one */
	size_t seen_count;
};

static bool first_sight(struct holdings *sum, ino_t inode)
{
	for (size_t i = 0; i < sum->seen_count; i++)
		if (sum->seen[i] == inode)
			return false;
	if (sum->seen_count < MEMORY_FILES)
		sum->seen[sum->seen_count++] = inode;
	return true;
}

/* Adds up files that lost their name, so that only descriptors hold on to them. */
static void add_nameless_files(pid_t pid, struct holdings *sum)
{
	char folder[64], path[128], target[64];

	snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
	DIR *descriptors = opendir(folder);
	for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
		struct stat status;
		snprintf(path, sizeof path, "%s/%.16s", folder, entry->d_name);
		ssize_t length = readlink(path, target, sizeof target - 1);
		if (length <= 0 || target[0] != '/')
			continue;
		if (stat(path, &status) < 0 || status.st_dev != sum->device || status.st_nlink > 0)
			continue;
		if (first_sight(sum, status.st_ino))
			sum->nameless_files += (uint64_t)status.st_blocks * S_BLKSIZE;
	}
	if (descriptors)
		closedir(descriptors);
}

static void add_process(pid_t pid, void *context)
{
	struct holdings *sum = context;
	char path[64], text[4096];

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	if (read_proc(text, sizeof text, path) > 0) {
		sum->own += field_in_kilobytes(text, "\nPss_Anon:") + field_in_kilobytes(text, "\nSwapPss:");
		sum->mapped_shared += field_in_kilobytes(text, "\nPss_Shmem:");
	} else {
		/* Not ours to look into (a program without read permission): count it in full. */
		snprintf(path, sizeof path, "/proc/%d/status", pid);
		read_proc(text, sizeof text, path);
		sum->own += field_in_kilobytes(text, "\nRssAnon:") + field_in_kilobytes(text, "\nVmSwap:");
		sum->mapped_shared += field_in_kilobytes(text, "\nRssShmem:");
	}
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	read_proc(text, sizeof text, path);
	sum->own += field_in_kilobytes(text, "\nVmPTE:");
}

uint64_t proportional_memory(pid_t root, uint64_t memory_files)
{
	struct holdings sum = { 0 };

	each_descendant(root, add_process, &sum);
	/* Mapped pages of a memory file are in both figures; what is larger holds. */
	return sum.own + (sum.mapped_shared > memory_files ? sum.mapped_shared : memory_files);
}

static void add_unlinked(pid_t pid, void *context)
{
	add_nameless_files(pid, context);
}

uint64_t unlinked_bytes(pid_t root, const char *folder)
{
	struct holdings sum = { 0 };
	struct stat status;

	if (stat(folder, &status) < 0)
		return 0;
	sum.device = status.st_dev;
	each_descendant(root, add_unlinked, &sum);
	return sum.nameless_files;
}
