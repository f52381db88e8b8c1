/* Signals of the tool, sent by the keeper. */
#pragma once

#include "keeper/call/notification.h"

void answer_signal(const struct notification *call);
