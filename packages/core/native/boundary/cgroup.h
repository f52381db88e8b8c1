#pragma once

#include "wire/plan.h"

struct cgroup {
	int parent, folder; /* -1: none */
	char name[32];
};

/* Made beneath the plan's parent, with the plan's limits; none when the plan names no parent. */
struct cgroup make_cgroup(const struct plan *plan);
/* Starts a process in it, as fork() does. */
pid_t clone_into_cgroup(const struct cgroup *cgroup, unsigned long flags);
/* Everybody in it, at once. */
void kill_cgroup(const struct cgroup *cgroup);
/* Once nobody is in it any more. */
void remove_cgroup(const struct cgroup *cgroup);
/* For the keeper, which has no use for it. */
void close_cgroup(const struct cgroup *cgroup);
/* A number in one of its files: behind the word `field`, or the only one if that is NULL. 0 if there is none. */
uint64_t read_cgroup(const struct cgroup *cgroup, const char *file, const char *field);
