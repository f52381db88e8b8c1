/*
 * Fuzz target: the frames of the host connection.
 * needs: wire/frames.c wire/read-frame.c wire/memory.c wire/report.c
 *
 * Whatever bytes come, the frames that are read lie one behind the other in
 * them; and what is written as a frame is read as the same.
 */
#include "fuzz/fuzz.h"
#include "wire/read-frame.h"

#include <sys/mman.h>

/* Within what a socket takes at once, because nobody reads while we write. */
#define LARGEST_ECHO 4096

static void check_echo(const int ends[2], const struct frame *frame)
{
	struct frame echo;

	HOLDS(write_frame(ends[0], frame->kind, frame->payload, frame->length));
	HOLDS(read_frame(ends[1], &echo));
	HOLDS(echo.kind == frame->kind && echo.length == frame->length &&
	      memcmp(echo.payload, frame->payload, frame->length) == 0);
	free(echo.payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1, ends[2];
	struct frame frame;
	size_t at = 0;

	if (file < 0) {
		file = memfd_create("frames", MFD_CLOEXEC);
		HOLDS(file >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	}
	HOLDS(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0);
	while (read_frame(file, &frame)) {
		HOLDS((uint8_t)frame.kind == data[at] && frame.length <= FRAME_LIMIT);
		HOLDS(at + FRAME_HEADER + frame.length <= size);
		HOLDS(memcmp(frame.payload, data + at + FRAME_HEADER, frame.length) == 0 &&
		      frame.payload[frame.length] == '\0');
		at += FRAME_HEADER + frame.length;
		if (frame.length <= LARGEST_ECHO)
			check_echo(ends, &frame);
		free(frame.payload);
	}
	return 0;
}
