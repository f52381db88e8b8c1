#pragma once

#include "wire/plan.h"

/* Longer than any address: without an outer keeper the kernel answers EINVAL. */
#define SHORTEST_REQUEST (sizeof(struct sockaddr_storage) + 1)
#define LONGEST_REQUEST (16u << 10)

/* The caller frees the words. */
char *write_request(const struct plan *plan, uint64_t mark, size_t *length);
/*
 * NULL, or what is wrong with the words. A tool may have written them. The plan gets the form and the destinations, no
 * more, and points into the words.
 */
const char *parse_request(char *words, size_t length, uint64_t *mark, struct plan *plan);
