/* stdin, stdout and stderr of a cell, one end of each. */
#pragma once

/* Above stdin, stdout, stderr and the host. */
#define FIRST_OF_OURS 4

struct stdio {
	int at[3];
	int terminal; /* -1, or: of the supervisor's the caller's, of the tool's the new one */
};

void close_stdio(struct stdio stdio);
