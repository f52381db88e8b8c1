/* execve() where the programs are limited. */
#pragma once

#include "keeper/call/notification.h"

void answer_execute(const struct notification *call);
