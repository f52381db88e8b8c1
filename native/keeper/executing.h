/* execve() where the programs are limited. */
#ifndef CORDON_EXECUTING_H
#define CORDON_EXECUTING_H

#include "keeper/call/notification.h"

void answer_execute(const struct notification *call);

#endif
