/* A cgroup (version 2) of the call's own: its memory and processes, counted and bounded by the kernel. */
#pragma once

#include "wire/plan.h"

#include <sys/types.h>

struct cgroup {
	int parent, folder; /* -1: none */
	char name[32];
};

#define NO_CGROUP ((struct cgroup){ .parent = -1, .folder = -1 })

/* Made beneath the plan's parent, with the plan's limits; none when the plan names no parent. */
struct cgroup make_cgroup(const struct plan *plan);
/* A process that starts in it, as fork() and clone() do. */
pid_t clone_into_cgroup(const struct cgroup *cgroup, unsigned long flags);
/* Everybody in it, at once. */
void kill_cgroup(const struct cgroup *cgroup);
/* Once nobody is in it any more. */
void remove_cgroup(const struct cgroup *cgroup);
/* For the keeper, who has no business with it. */
void close_cgroup(const struct cgroup *cgroup);
/* A number in one of its files: behind the word `field`, or the only one when that is NULL. 0 when there is none. */
uint64_t read_cgroup(const struct cgroup *cgroup, const char *file, const char *field);
