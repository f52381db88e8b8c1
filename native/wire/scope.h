/* Descriptors and memory that end with the block that they are declared in. */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define CLOSE_ON_RETURN __attribute__((cleanup(close_descriptor), unused))
#define FREE_ON_RETURN __attribute__((cleanup(free_pointer), unused))

static inline void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void free_pointer(void *pointer)
{
	free(*(void **)pointer);
}
