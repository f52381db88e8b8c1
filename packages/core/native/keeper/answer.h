#pragma once

#include "keeper/files/observe.h"
#include "keeper/files/terminals.h"
#include "keeper/limits/counts.h"
#include "keeper/limits/memory.h"
#include "keeper/network/nested.h"

/* All that the keeper remembers from one trapped call to the next. */
struct remembered {
	struct notification call; /* what all calls have in common */
	struct told told;
	struct attempts attempts;
	struct terminals terminals;
	struct task_count tasks;
	struct charges charges;
	unsigned inotify_instances; /* never less than there are */
	struct broker broker; /* unless an outer keeper answers */
	struct nest nest;
};

/* Before privileges are dropped. */
void begin_answers(struct remembered *remembered, const struct plan *plan, int supervisor);
void answer_notification(struct remembered *remembered, int listener);
