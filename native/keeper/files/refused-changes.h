/* Making, removing, replacing and renaming names that the boundary keeps. */
#pragma once

#include "keeper/call/notification.h"

void answer_change(const struct notification *call);
