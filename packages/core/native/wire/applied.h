/*
 * What was really built. Each entry is made beside the system call that the kernel agreed to, so that a step that was
 * skipped, or taken with other words, leaves another sum. The host makes the same sum from its plan
 * (src/sandbox/plan/encode-plan.ts).
 */
#pragma once

#include "wire/system.h"

struct applied {
	unsigned mounts, rules;
	uint32_t sum; /* FNV-1a. It finds faults, not forgers: a forged launcher could report anything. */
};

#define NOTHING_APPLIED ((struct applied){ 0, 0, 2166136261u })

static inline void sum_up(struct applied *applied, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		applied->sum = (applied->sum ^ (unsigned char)bytes[i]) * 16777619u;
}

/* `kind`: a letter. `access`: bits of enum access, or 0. */
static inline void note_applied(struct applied *applied, char kind, unsigned access, const char *path)
{
	char head[2] = { kind, (char)('0' + access) };

	*(kind == 'a' ? &applied->rules : &applied->mounts) += 1;
	sum_up(applied, head, sizeof head);
	sum_up(applied, path, strlen(path) + 1);
}
