/* memfd_create() under a memory limit. */
#ifndef CORDON_MEMORY_FILES_H
#define CORDON_MEMORY_FILES_H

#include "keeper/call/notification.h"

void answer_memory_file(const struct notification *call);

#endif
