#pragma once

#include "wire/applied.h"
#include "wire/plan.h"

int landlock_abi(void);
/* `terminal`: the cell's own, or -1 */
void apply_landlock(const struct plan *plan, int terminal, struct applied *applied);
/* From now on our signals reach only what we start, so that kill(-1) ends it all (since ABI 6). */
bool enclose_signals(void);
/* Whether Landlock alone confines the cell, and is older than `abi`. */
bool landlock_is_before(const struct plan *plan, int abi);
