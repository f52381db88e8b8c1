/* FNV-1a. Whoever seeks collisions slows only the look at what he made himself. */
#ifndef CORDON_HASH_H
#define CORDON_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_OF_NOTHING 14695981039346656037u

/* Of the bytes, behind those that `before` is the hash of. */
static inline uint64_t hash_bytes(uint64_t before, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		before = (before ^ (unsigned char)bytes[i]) * 1099511628211u;
	return before;
}

#endif
