#pragma once

#include "supervisor/call.h"

/* Before a call is killed: with its pid namespace, the kernel forgets what its processes used. */
void note_usage(struct call *call);
void stop_for_limit(struct call *call, const char *limit, uint64_t allowed, uint64_t used);
/* Once it has ended. */
void name_limit_of_signal(struct call *call);
/* Bytes of memory in the private folder. */
uint64_t look_at_scratch(struct call *call);
/* The call begins: what was used before does not count. */
void begin_clocks(struct call *call);
void look_after_limits(struct call *call, uint64_t now);
/* What the kernel counted and refused, once everything is over. */
void look_at_cgroup(struct call *call);
/* A keeper that does not end what it was told to end is ended itself. */
void insist_on_end(const struct call *call, uint64_t now);
/* Milliseconds until a limit must be looked at, as poll() takes them. */
int time_to_wait(const struct call *call, uint64_t now);
