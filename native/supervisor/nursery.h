#pragma once

#include "wire/system.h"

/* What becomes of the child for each connection. `channel`: where Node takes descriptors, or -1. */
typedef int run_launcher(int host, int channel);
int serve_nursery(char *name, run_launcher *run);
