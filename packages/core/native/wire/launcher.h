#pragma once

#include "wire/system.h"

/* How a front calls this program when it starts the launcher of a cell. */
#define LAUNCHER_NAME "cordon-cell"
/* The signal of a launcher whose caller has ended: to it, that is the end of its host. */
#define CALLER_ENDED SIGTERM

/* Runs one cell for the host at this descriptor. `channel`: where connections of the tool go, or -1. */
typedef int run_launcher(int host, int channel);
