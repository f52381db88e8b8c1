#pragma once

#include "wire/system.h"

/* Sends a frame for each mount, and none if the kernel's list cannot be read. */
void tell_mounts(void);
