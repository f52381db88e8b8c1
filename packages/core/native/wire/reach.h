#pragma once

#include "wire/system.h"

enum reach_kind { REACH_NAME, REACH_BELOW, REACH_BLOCK };
extern const char *const reach_kinds[REACH_BLOCK + 1];

/* One destination. */
struct reach {
	enum reach_kind kind;
	const char *name; /* or the name that others lie below */
	uint8_t address[16]; /* of a block; IPv4 as a part of IPv6 (::ffff:0:0/96) */
	unsigned bits;
	uint16_t port;
};

/* How the tool's connections reach the proxy, which judges again; see broker.c. */
struct broker_terms {
	uint16_t port; /* of the proxy, on the cell's loopback; 0 when there is none */
	const char *token; /* by which the proxy knows the call */
	struct reach *reaches;
	size_t reach_count;
};

/* Writes an IPv4 address as one of IPv6. */
struct in_addr;
void write_mapped(const struct in_addr *address, uint8_t into[16]);
/* False when the words name no destination. */
bool parse_reach(const char *kind, const char *value, const char *port, struct reach *into);
/* By any port when `port` is 0. */
bool reaches_name(const struct broker_terms *terms, const char *name, uint16_t port);
bool reaches_address(const struct broker_terms *terms, const uint8_t address[16], uint16_t port);
/* Whether a granted block has an address of this one. */
bool reaches_into(const struct broker_terms *terms, const uint8_t block[16], unsigned bits);
