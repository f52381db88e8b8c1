/* Calls that make, rename and remove names in write roots that hold something protected. */
#ifndef CORDON_MAKING_H
#define CORDON_MAKING_H

#include "keeper/call/notification.h"

/* False, and unanswered, when it is none of these calls, or elsewhere. */
bool answer_making(const struct notification *call);

#endif
