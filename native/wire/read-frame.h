/* Reading frames, see frames.h. */
#ifndef CORDON_READ_FRAME_H
#define CORDON_READ_FRAME_H

#include "wire/frames.h"

struct frame {
	enum frame_kind kind;
	uint32_t length;
	char *payload; /* always NUL-terminated behind `length` */
};

bool read_frame(int host, struct frame *into);
bool read_fully(int fd, void *bytes, size_t length);

#endif
