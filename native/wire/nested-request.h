/*
 * What a cell inside another one says of itself to the outer keeper: its mark, the port of its proxy, its destinations.
 * It is handed to connect() in the place of an address.
 */
#pragma once

#include "wire/plan.h"

#include <sys/socket.h>

/* Longer than any address: without an outer keeper the kernel answers EINVAL. */
#define SHORTEST_REQUEST (sizeof(struct sockaddr_storage) + 1)
#define LONGEST_REQUEST (16u << 10)
#define REQUEST_WORD "cordon-nested-1"

/* The caller frees it. */
char *write_request(const struct plan *plan, uint64_t mark, size_t *length);
/*
 * NULL, or what is wrong with the words. A tool may have written them. The plan gets the form and the destinations, no
 * more, and points into the words.
 */
const char *parse_request(char *words, size_t length, uint64_t *mark, struct plan *plan);
