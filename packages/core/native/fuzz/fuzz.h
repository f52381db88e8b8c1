/*
 * What the fuzz targets share. A target is one file fuzz/NAME.c; it is built by
 * `npm run fuzz` with the sources that it names in its first lines as `needs:`.
 */
#pragma once

#include "wire/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A claim about the code under test; breaking it is a finding like any crash. */
#define HOLDS(claim)                      \
	do {                              \
		if (!(claim))             \
			__builtin_trap(); \
	} while (0)

/* A copy that ends where the bytes end, so that the sanitizer sees a read behind them. */
static inline char *exact_copy(const uint8_t *data, size_t size, size_t spare)
{
	char *copy = malloc(size + spare);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	return copy;
}
