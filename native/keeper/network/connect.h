/* What connect.c and broker.c share. */
#ifndef CORDON_CONNECT_H
#define CORDON_CONNECT_H

#include "keeper/notify.h"
#include "keeper/network/stand-in.h"

#include <netinet/in.h>
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

#define SOON 500 /* milliseconds; on the loopback it takes none, and the tool's other calls wait meanwhile */

/* Returns 0 or an error; EINTR when it took longer than SOON, whatever the tool does with the socket meanwhile. */
int connect_in_time(int socket, const struct sockaddr *address, socklen_t length);
/* The tool's own socket, or one to take its place. Returns 0 or an error. */
int take_socket(const struct notification *call, struct stand_in *ours);
void connect_as_asked(const struct notification *call, const struct stand_in *ours, const union address *address, socklen_t length);

#endif
