/* Calls that make, rename and remove names in write roots that hold something protected. */
#pragma once

#include "keeper/call/notification.h"

/* False, and unanswered, when it is none of these calls, or elsewhere. */
bool answer_making(const struct notification *call);
