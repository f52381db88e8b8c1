#pragma once

#include "front/peer.h"

/* The local host of this build, as a front knows it. */
struct local_host {
	const char *build;
	struct peer peer; /* checked once, with the first connection */
};

/* A host that is stopped must not stop everybody: so long, in milliseconds, for each step until the command begins. */
#define PATIENCE 5000

/* A connection to the socket of this purpose (host-place.h), or -1. It waits no longer than that. */
int connect_to_host(struct local_host *host, const char *purpose, int type);
/* Sends a whole frame in that time. False otherwise, also when the host is gone. */
bool tell_host(int connection, char kind, const void *payload, size_t length);
