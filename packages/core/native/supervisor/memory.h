#pragma once

#include "wire/system.h"

/* The supervisor's own openings of the tool's memory files, which the keeper made (keeper/limits/memory.c). */
struct memory_files {
	int *at;
	size_t count;
};

void keep_memory_file(struct memory_files *files, int file);
/* Bytes in those that somebody still has open; the others are let go. */
uint64_t memory_files_in_use(struct memory_files *files);
/* Exact, and slower than the sum of resident sizes. `in_files`: bytes of memory files. */
uint64_t proportional_memory(pid_t root, uint64_t in_files);
/* Bytes in files on the file system of `folder` that have no name any more but are still open. */
uint64_t unlinked_bytes(pid_t root, const char *folder);
