#pragma once

#include "keeper/call/notification.h"

/* NOT_OURS when it is none of these calls. */
int answer_metadata(const struct notification *call);
