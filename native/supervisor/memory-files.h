/* The supervisor's own openings of the tool's memory files, which the keeper made (keeper/limits/memory-files.c). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct memory_files {
	int *at;
	size_t count;
};

void keep_memory_file(struct memory_files *files, int file);
/* Bytes in those that somebody still has open; the others are let go. */
uint64_t memory_files_in_use(struct memory_files *files);
