#pragma once

#include "keeper/call/notification.h"

int answer_signal(const struct notification *call);
