/* What the processes of a cell use together. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct consumption {
	uint64_t tasks;
	uint64_t resident; /* bytes, shared pages counted once per process */
	uint64_t cpu; /* milliseconds */
};

uint64_t count_descendants(pid_t root);
void measure_descendants(pid_t root, struct consumption *sum);
bool sees_descendants(void);
