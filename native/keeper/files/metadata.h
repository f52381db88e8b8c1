/* chmod, chown, utime, xattr and truncate, carried out by the keeper. */
#pragma once

#include "keeper/call/notification.h"

/* False, and unanswered, when it is none of these calls. */
bool answer_metadata(const struct notification *call);
