#pragma once

#include "wire/system.h"

/* Whether the first frame of the host names a wall. Waits for it, and leaves it there. */
bool asks_for_wall(int host);
/* Starts the wall that the host asks for, with a launcher inside, and stays until it has ended. */
_Noreturn void run_wall(int host, int channel);
