/* Making, removing, replacing and renaming names that the boundary keeps. */
#ifndef CORDON_REFUSED_CHANGES_H
#define CORDON_REFUSED_CHANGES_H

#include "keeper/call/notification.h"

void answer_change(const struct notification *call);

#endif
