/* Which part of the keeper answers which trapped system call. */
#pragma once

#include "keeper/call/violations.h"
#include "keeper/files/observe.h"
#include "keeper/files/terminals.h"
#include "keeper/limits/inotify-instances.h"
#include "keeper/limits/shared-mappings.h"
#include "keeper/limits/tasks.h"
#include "keeper/network/nested.h"

/* All that the keeper remembers from one trapped call to the next. */
struct remembered {
	struct told told;
	struct attempts attempts;
	struct terminals terminals;
	struct task_count tasks;
	struct charges charges;
	struct inotify_count inotify;
	pid_t keeper_in_proc; /* see struct notification */
	struct broker broker;
	bool has_broker; /* hosts are granted, and no outer keeper answers */
	struct nest nest;
};

/* Before privileges are dropped. */
void begin_answers(struct remembered *remembered, const struct plan *plan, int supervisor);
void answer_notification(const struct plan *plan, int listener, int supervisor, struct remembered *remembered);
