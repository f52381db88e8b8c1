#pragma once

#include "wire/system.h"

/* The host does not serve these words, or there is none. */
#define NOT_SERVED (-1)

/*
 * Has the local host carry out the words, and returns their exit status. `message`: what a hook reads, or -1. Signals
 * of this job are passed on.
 */
int ask_host(const char *build, int message, int argc, char **argv);
