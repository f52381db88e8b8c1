#pragma once

#include "wire/system.h"

struct words {
	char *at, *end;
};

/* NULL when there is none left, or the last one was cut. */
char *next_word(struct words *words);
/* Whether a path begins with a slash and has no dot component. */
bool absolute(const char *path);
bool parse_number(const char *text, uint64_t *number);
bool parse_port(const char *text, uint16_t *port);
