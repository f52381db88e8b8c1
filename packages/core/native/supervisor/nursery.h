#pragma once

#include "wire/launcher.h"

/* Each connection gets a child that runs one cell. */
int serve_nursery(char *name, run_launcher *run);
