/* FNV-1a. A tool that finds collisions hides only its own attempts. */
#pragma once

#include "wire/system.h"

static inline uint64_t hash_bytes(const char *bytes, size_t length)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
	return hash;
}

/* Remembers the hash of a text. False when it was known already, or there is no room. */
static inline bool is_first_sight(uint64_t *seen, size_t *count, size_t most, const char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text));

	for (size_t i = 0; i < *count; i++)
		if (seen[i] == hash)
			return false;
	if (*count == most)
		return false;
	seen[(*count)++] = hash;
	return true;
}
