/*
 * What a cell's processes really hold: pages shared between them count once, memory files count even when nobody has
 * mapped them, page tables count.
 */
#include "supervisor/memory.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "wire/memory.h"

void keep_memory_file(struct memory_files *files, int file)
{
	APPEND(files->at, files->count, file);
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
		bytes += (uint64_t)status.st_blocks * S_BLKSIZE;
		files->at[kept++] = files->at[i];
	}
	files->count = kept;
	return bytes;
}

struct holdings {
	uint64_t own, mapped_shared; /* kilobytes */
};

static void add_process(pid_t pid, void *context)
{
	struct holdings *sum = context;
	char status[4096], text[4096];

	read_proc(status, sizeof status, "/proc/%d/status", pid);
	sum->own += field_of(status, "\nVmPTE:");
	if (read_proc(text, sizeof text, "/proc/%d/smaps_rollup", pid) > 0) {
		sum->own += field_of(text, "\nPss_Anon:") + field_of(text, "\nSwapPss:");
		sum->mapped_shared += field_of(text, "\nPss_Shmem:");
	} else {
		/* Not ours to look into (a program without read permission): count it in full. */
		sum->own += field_of(status, "\nRssAnon:") + field_of(status, "\nVmSwap:");
		sum->mapped_shared += field_of(status, "\nRssShmem:");
	}
}

uint64_t proportional_memory(pid_t root, uint64_t in_files)
{
	struct holdings sum = { 0 };

	each_descendant(root, add_process, &sum);
	/* Mapped pages of a memory file are in both figures; the larger one counts. */
	return sum.own * 1024 + (sum.mapped_shared * 1024 > in_files ? sum.mapped_shared * 1024 : in_files);
}

struct nameless_files {
	dev_t device;
	uint64_t bytes;
	ino_t seen[4096]; /* counted once, however many processes hold one */
	size_t seen_count;
};

static bool first_sight(struct nameless_files *sum, ino_t inode)
{
	for (size_t i = 0; i < sum->seen_count; i++)
		if (sum->seen[i] == inode)
			return false;
	if (sum->seen_count < COUNT_OF(sum->seen))
		sum->seen[sum->seen_count++] = inode;
	return true;
}

static void add_if_nameless(pid_t pid, const char *descriptor, const char *target, void *context)
{
	struct nameless_files *sum = context;
	struct stat status;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%.16s", pid, descriptor);
	if (target[0] == '/' && stat(path, &status) == 0 && status.st_dev == sum->device && status.st_nlink == 0 &&
	    first_sight(sum, status.st_ino))
		sum->bytes += (uint64_t)status.st_blocks * S_BLKSIZE;
}

static void add_nameless(pid_t pid, void *context)
{
	each_descriptor(pid, add_if_nameless, context);
}

uint64_t unlinked_bytes(pid_t root, const char *folder)
{
	struct nameless_files sum = { 0 };
	struct stat status;

	if (stat(folder, &status) < 0)
		return 0;
	sum.device = status.st_dev;
	each_descendant(root, add_nameless, &sum);
	return sum.bytes;
}
