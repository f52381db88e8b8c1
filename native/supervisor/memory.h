/* What a cell's processes really hold. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Exact, and slower than the sum of resident sizes. */
uint64_t proportional_memory(pid_t root, uint64_t memory_files);
/* Bytes in files on the file system of `folder` that have no name any more but are still open. */
uint64_t unlinked_bytes(pid_t root, const char *folder);
