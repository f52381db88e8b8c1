/* bind(), where names of sockets without a file are shared with the host. */
#ifndef CORDON_BIND_H
#define CORDON_BIND_H

#include "keeper/call/notification.h"

void answer_bind(const struct notification *call);

#endif
