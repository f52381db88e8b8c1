/* connect() and listen(), carried out for the tool on its own socket. */
#pragma once

#include "keeper/call/notification.h"

void answer_connect(const struct notification *call);
void answer_listen(const struct notification *call);
