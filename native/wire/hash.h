/* FNV-1a. Whoever seeks collisions slows only the look at what he made himself. */
#pragma once

#include <stdbool.h>
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

/* Whether a hash is none of those seen before, and there is room: then it is one of them. */
static inline bool is_first_sight(uint64_t *seen, size_t *count, size_t most, uint64_t hash)
{
	for (size_t i = 0; i < *count; i++)
		if (seen[i] == hash)
			return false;
	if (*count == most)
		return false;
	seen[(*count)++] = hash;
	return true;
}
