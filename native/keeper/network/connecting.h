/* connect(), carried out on the tool's own socket or on one that takes its place. */
#pragma once

#include "keeper/network/address.h"
#include "keeper/network/stand-in.h"

#define SOON 500 /* milliseconds; on the loopback it takes none, and the tool's other calls wait meanwhile */

/* Returns 0 or an error; EINTR when it took longer than SOON, whatever the tool does with the socket meanwhile. */
int connect_in_time(int socket, const struct sockaddr *address, socklen_t length);
/* The tool's own socket, or one to take its place. Returns 0 or an error. */
int take_socket(const struct notification *call, struct stand_in *ours);
void connect_as_asked(const struct notification *call, const struct stand_in *ours, const union address *address,
		      socklen_t length);
