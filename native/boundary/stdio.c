/* stdin, stdout and stderr of a cell, one end of each. */
#include "boundary/stdio.h"

#include <string.h>
#include <unistd.h>

void close_stdio(struct stdio stdio)
{
	for (int i = 0; i < 3; i++)
		if (stdio.at[i] >= 0)
			close(stdio.at[i]);
	if (stdio.terminal >= 0)
		close(stdio.terminal);
}
