#pragma once

#include "wire/system.h"

/* What a host needs to know of its client; nothing else of it counts. */
struct request {
	char *bytes;
	size_t length;
};

/* False if there is no folder, or the request would be too large. */
bool make_request(struct request *request, int argc, char **argv);
/* Whether this job has the keys of its terminal, or has no terminal. */
bool is_in_foreground(void);
