/* memfd_create() under a memory limit. */
#pragma once

#include "keeper/call/notification.h"

void answer_memory_file(const struct notification *call);
