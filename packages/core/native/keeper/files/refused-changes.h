#pragma once

#include "keeper/call/notification.h"

int answer_change(const struct notification *call);
