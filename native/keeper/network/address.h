/* Addresses that a tool hands to connect() and bind(). */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	char bytes[sizeof(struct sockaddr_storage)];
};

/* Of the longest path or name: each of its bytes as \u00XX. */
#define ADDRESS_FIELDS (6 * sizeof(struct sockaddr_un) + 64)

/* As fields of a report. */
void describe_address(const union address *address, char *into, size_t room);
bool is_loopback(const union address *address);
