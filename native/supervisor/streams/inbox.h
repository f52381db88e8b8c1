/* What waits to be read by the tool: a tool that does not read must not block the supervisor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct inbox {
	char *bytes;
	size_t at, length;
	bool ends; /* nothing will follow */
};

size_t inbox_waiting(const struct inbox *inbox);
void inbox_put(struct inbox *inbox, const char *bytes, size_t length);
/* Writes what the tool takes now; what it never will take (it closed its end) is dropped. */
void inbox_write(struct inbox *inbox, int to);
