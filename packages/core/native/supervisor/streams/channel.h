#pragma once

#include "wire/system.h"

struct courier {
	int channel; /* where Node takes descriptors, or -1 */
	const char *token; /* how the host knows the cell */
	struct parcel *parcels;
	size_t count; /* that wait until the channel can be written to */
};

/* Takes the connection; `whom`: the name or address, and port, that it is meant for. */
void courier_take(struct courier *courier, const char *whom, int connection);
void courier_go(struct courier *courier);
