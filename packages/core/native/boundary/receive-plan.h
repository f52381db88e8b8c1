#pragma once

#include "wire/plan.h"

/* A plan, or what a head start says of one. It lives as long as the cell. */
struct plan receive_plan(int host, bool *is_head_start);
/* For the supervisor: the plan that follows a head start, for itself and for the keeper. */
struct plan hand_plan_on(const struct plan *outline, int host, int keeper);
/* For the keeper. A plan that the head start was not for is refused. */
struct plan await_plan(const struct plan *outline, int from);
