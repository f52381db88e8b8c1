/* Shared anonymous memory under a memory limit. */
#pragma once

#include "keeper/call/notification.h"

#define MOST_CHARGES 4096

struct charges {
	uint64_t bytes[MOST_CHARGES];
	size_t count;
	uint64_t sum;
};

void answer_shared_mapping(const struct notification *call, struct charges *charges);
