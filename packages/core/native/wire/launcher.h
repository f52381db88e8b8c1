#pragma once

#include "wire/system.h"

/* Runs one cell for the host at this descriptor. `channel`: where connections of the tool go, or -1. */
typedef int run_launcher(int host, int channel);
