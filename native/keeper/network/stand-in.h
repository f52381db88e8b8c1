/* Sockets that take the place of the tool's own, see stand-in.c. */
#pragma once

#include "keeper/call/notification.h"

#include <sys/socket.h>

struct stand_in {
	int socket;
	int descriptor, flags; /* of the tool's own */
	bool is_seqpacket;
};

/* Returns 0, or the error that connect() on the tool's socket has. */
int make_stand_in(const struct notification *call, struct stand_in *made);
int connect_stand_in(const struct stand_in *made, const struct sockaddr *address, socklen_t length);
bool put_in_place(const struct notification *call, const struct stand_in *made);
/* socket() of the internet families, where its listen() could not be judged either. */
void answer_socket(const struct notification *call);
