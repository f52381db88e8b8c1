/* Connections on their way to the host, see channel.c. */
#pragma once

#include <stddef.h>

/* Room for whom a connection is meant for: a name or address, and a port. */
#define WHOM_ROOM 264

struct courier {
	int channel; /* where Node takes descriptors, or -1 */
	const char *token; /* how the host knows the cell */
	struct parcel *parcels;
	size_t count; /* that wait until the channel can be written to */
};

/* The connection is the courier's from now on. */
void courier_take(struct courier *courier, const char *whom, int connection);
void courier_go(struct courier *courier);
