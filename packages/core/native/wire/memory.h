#pragma once

#include "wire/system.h"

_Noreturn void out_of_memory(void);
/* All zero. */
void *allocate(size_t count, size_t size);
void *resize(void *memory, size_t size);
/* Room for one more than `count`, in an array that was made by this alone. */
void *grow(void *array, size_t count, size_t size);
/* NULL without memory, and the array stays as it is. For killing alone, which must not end. */
void *try_to_grow(void *array, size_t count, size_t size);
#define APPEND(array, count, ...) \
	((array) = grow(array, count, sizeof *(array)), (void)((array)[(count)++] = __VA_ARGS__))
char *copy_text(const char *text);
char *copy_part(const char *text, size_t length);

/* Text that is written piece by piece, for as long as `into` is open. */
struct text {
	FILE *into;
	char *bytes;
	size_t length;
};

void begin_text(struct text *text);
/* The caller frees `bytes`. */
void end_text(struct text *text);
