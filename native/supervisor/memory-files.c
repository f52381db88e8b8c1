/* The supervisor's own openings of the tool's memory files. */
#include "supervisor/memory-files.h"
#include "wire/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void keep_memory_file(struct memory_files *files, int file)
{
	files->at = grow(files->at, files->count, sizeof *files->at);
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
		bytes += (uint64_t)status.st_blocks * S_BLKSIZE;
		files->at[kept++] = files->at[i];
	}
	files->count = kept;
	return bytes;
}
