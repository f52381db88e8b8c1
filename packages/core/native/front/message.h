#pragma once

#include "wire/system.h"

/*
 * What a hook reads, taken in whole: a host gets it, or Node does, if no host serves. Returns a descriptor of a file in
 * memory, or -1 if there is none.
 */
int take_message(void);
