#pragma once

#include "wire/system.h"

/* Nothing is told if the kernel's list cannot be read. */
void tell_mounts(void);
