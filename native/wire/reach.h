/* What a tool may be connected to, by way of the proxy: names, all below a name, and blocks of addresses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reach_kind { REACH_NAME, REACH_BELOW, REACH_BLOCK };

/* One destination and port that the tool may be connected to, by way of the proxy. */
struct reach {
	enum reach_kind kind;
	const char *name; /* of a name, or what names lie below */
	uint8_t address[16]; /* of a block; IPv4 as a part of IPv6 (::ffff:0:0/96) */
	unsigned bits;
	uint16_t port;
};

/* How the tool's connections reach the proxy, which judges again; see broker.c. */
struct broker_terms {
	uint16_t port; /* of the proxy, on the loopback that the cell has; 0 when there is none */
	const char *token; /* by which the proxy knows the call */
	struct reach *reaches;
	size_t reach_count;
};

/* An address of IPv4, as one of IPv6. */
struct in_addr;
void write_mapped(const struct in_addr *address, uint8_t into[16]);
/* False when the words are none. */
bool parse_reach(const char *kind, const char *value, const char *port, struct reach *into);
/* By any port when `port` is 0. */
bool reaches_name(const struct broker_terms *terms, const char *name, uint16_t port);
bool reaches_address(const struct broker_terms *terms, const uint8_t address[16], uint16_t port);
