/* stdin, stdout and stderr of a cell, one end of each. */
#pragma once

#include "wire/system.h"

/* Above stdin, stdout, stderr and the host. */
#define FIRST_OF_OURS 4

struct stdio {
	int at[3];
	int terminal; /* the caller's for the supervisor, the new one for the tool, or -1 */
};

static inline void close_stdio(struct stdio stdio)
{
	for (int i = 0; i < 3; i++)
		close_descriptor(&stdio.at[i]);
	close_descriptor(&stdio.terminal);
}
