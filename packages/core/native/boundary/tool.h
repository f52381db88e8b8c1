#pragma once

#include "boundary/stdio.h"
#include "wire/applied.h"
#include "wire/plan.h"

/* Exit status of a probe: what of the keeper's work the host permits. */
enum probe_status { PROBE_HELD, PROBE_NOTHING_BORROWED, PROBE_MEMORY_UNREADABLE };

/* A session, streams, signals, umask and working directory of its own. */
void begin_tool(const struct plan *plan, struct stdio stdio);
/* The keeper of an outer cell learns that this process is of a cell inside it. */
void join_outer(const struct plan *plan, int supervisor);
/*
 * A counter of the CPU time of this process and all its descendants, also those that nobody waits for. Where it is
 * refused, the supervisor adds up what /proc shows.
 */
void count_cpu(int supervisor);
/* From now on the keeper answers. `listener`: or -1 */
void hand_listener(int keeper, int listener);
/* Tells what is in force now. Limits, filter and privileges are asked of the kernel, not taken from the plan. */
void report_applied(int supervisor, const struct applied *applied);
struct command wait_for_command(int host);
int try_listener(const struct plan *plan);
