#pragma once

#include "keeper/call/notification.h"
#include "keeper/network/address.h"

#define SOON 500 /* milliseconds; on the loopback it takes none, and the tool's other calls wait meanwhile */

struct stand_in {
	int socket;
	int descriptor, flags; /* of the tool's own; `descriptor` is -1 when `socket` is that */
	bool is_seqpacket;
};

/* The tool's own socket, or one to take its place. Returns 0 or an error. */
int take_socket(const struct notification *call, struct stand_in *ours);
bool put_in_place(const struct notification *call, const struct stand_in *made);
/* Returns 0 or an error; EINTR when it took longer than SOON, whatever the tool does with the socket meanwhile. */
int connect_in_time(int socket, const struct sockaddr *address, socklen_t length);
int connect_as_asked(const struct notification *call, const struct stand_in *ours, const union address *address,
		     socklen_t length);
int answer_socket(const struct notification *call);
