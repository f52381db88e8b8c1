/* socketpair() of Unix datagram sockets. */
#ifndef CORDON_DATAGRAM_PAIRS_H
#define CORDON_DATAGRAM_PAIRS_H

#include "keeper/call/notification.h"

void answer_socket_pair(const struct notification *call);

#endif
