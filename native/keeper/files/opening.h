/* Opens that the keeper carries out, in the landlock form. */
#pragma once

#include "keeper/call/notification.h"

struct opening {
	int at;
	uint64_t pointer; /* to the path */
	int flags;
	mode_t mode;
};
/* False, and unanswered, when it is none that the keeper carries out. */
bool carry_out_open(const struct notification *call, const struct opening *opening);
