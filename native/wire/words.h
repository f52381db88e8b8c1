/* NUL-separated words, as plans, commands and requests consist of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
	char *at, *end;
};

/* NULL when there is none left, or the last one was cut. */
char *next_word(struct words *words);
/* Whether it is a path that begins with a slash and has no dot component. */
bool absolute(const char *path);
bool parse_number(const char *text, uint64_t *number);
