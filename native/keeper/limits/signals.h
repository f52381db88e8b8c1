/* Signals of the tool, sent by the keeper. */
#ifndef CORDON_SIGNALS_H
#define CORDON_SIGNALS_H

#include "keeper/call/notification.h"

void answer_signal(const struct notification *call);

#endif
