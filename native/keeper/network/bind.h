/* bind(), where names of sockets without a file are shared with the host. */
#pragma once

#include "keeper/call/notification.h"

void answer_bind(const struct notification *call);
