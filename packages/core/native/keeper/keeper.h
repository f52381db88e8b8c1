#pragma once

#include "keeper/answer.h"
#include "wire/applied.h"

/* The keeper itself, once it watches. */
struct keeper {
	const struct plan *plan;
	pid_t tool;
	int signals, supervisor, from_tool, terminal;
	struct remembered *remembered;
	int mounts; /* or -1 where nothing is mounted */
	bool enclosed; /* kill(-1) reaches the cell and nothing else */
};

/* Nothing inside may look into this process, which saw the host's plan. */
void hide_keeper(void);
/* The root, the network and the name of the cell. Returns the table of mounts, to be watched. */
int enter_namespaces(const struct plan *plan, struct applied *applied);
/* The same for where there are none. */
void stay_outside(void);
/* For the supervisor to see how full it is, from outside. */
void show_scratch(const struct plan *plan, int supervisor);
/* Before the tool exists: what is told of its end comes to this descriptor. */
int block_signals(const struct plan *plan);
_Noreturn void watch_over_tool(const struct keeper *keeper);
