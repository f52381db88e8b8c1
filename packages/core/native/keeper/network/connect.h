#pragma once

#include "keeper/call/notification.h"

int answer_connect(const struct notification *call);
int answer_listen(const struct notification *call);
