#pragma once

#include "keeper/call/notification.h"

#define MOST_CHARGES 4096

struct charges {
	uint64_t bytes[MOST_CHARGES];
	size_t count;
	uint64_t sum;
};

int answer_memory_file(const struct notification *call);
int answer_shared_mapping(const struct notification *call, struct charges *charges);
