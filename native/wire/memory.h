/*
 * Memory. One rule: a process that gets none ends, and with it the call (the watcher: all calls that it watches).
 * Nothing goes on with less: a list that lost an entry would be a process that is not killed, or a name that is not
 * guarded. So nobody calls malloc() and its like but memory.c (test/architecture holds this).
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* The one function that ends a process for want of memory. */
_Noreturn void out_of_memory(void);

/* All zero. */
void *allocate(size_t count, size_t size);
void *resize(void *memory, size_t size);
/* Room for one more than `count`, in an array that was made by this alone. */
void *grow(void *array, size_t count, size_t size);
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
