/* socketpair() of Unix datagram sockets. */
#pragma once

#include "keeper/call/notification.h"

void answer_socket_pair(const struct notification *call);
