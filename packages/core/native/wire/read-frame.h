#pragma once

#include "wire/frames.h"

struct frame {
	enum frame_kind kind;
	uint32_t length;
	char *payload; /* always NUL-terminated behind `length` */
};

bool read_frame(int host, struct frame *into);
/* False also once the waiting time of the socket is over. */
bool read_frame_in_time(int host, struct frame *into);
