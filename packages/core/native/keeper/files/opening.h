#pragma once

#include "keeper/call/notification.h"

struct opening {
	int at;
	uint64_t pointer; /* to the path */
	int flags;
	mode_t mode;
};
/* LET_THROUGH when it is none that the keeper carries out. */
int carry_out_open(const struct notification *call, const struct opening *opening);
