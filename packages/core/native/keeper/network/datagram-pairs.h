#pragma once

#include "keeper/call/notification.h"

int answer_socket_pair(const struct notification *call);
