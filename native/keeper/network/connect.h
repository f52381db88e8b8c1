/* connect() and listen(), carried out for the tool on its own socket. */
#ifndef CORDON_CONNECT_H
#define CORDON_CONNECT_H

#include "keeper/call/notification.h"

void answer_connect(const struct notification *call);
void answer_listen(const struct notification *call);

#endif
