#pragma once

#include "keeper/call/notification.h"

int answer_bind(const struct notification *call);
