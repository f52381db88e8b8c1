#pragma once

#include "wire/system.h"

#define STREAM_WINDOW (256u << 10)
#define LARGEST_PIECE (32u << 10)
#define STREAM_HEADER 9

enum stream_frame {
	STREAM_MOUNT = 'M', /* to the host, before the hello: see mounts.c */
	STREAM_HELLO = 'H', /* to the host, once: see hello.c */
	STREAM_OPEN = 'O', /* to the host: a connection of the tool, with the words of its channel */
	STREAM_DATA = 'D',
	STREAM_CREDIT = 'W', /* so many bytes more may be sent: four bytes, little endian */
	STREAM_END = 'E', /* no more data in this direction */
	STREAM_CLOSE = 'C', /* neither direction any more */
};

/* One connection that travels over the attached stream. Number 0 is the cell's own. */
struct carried {
	uint32_t number;
	int fd; /* -1: gone */
	char *pending; /* from the host, for `fd`: never more than a window */
	size_t at, length;
	size_t credit; /* what the host still takes */
	size_t written; /* since the host last got credit */
	bool host_ended, tool_ended;
};

struct carried new_carried(uint32_t number, int fd);
void write_stream_frame(char kind, uint32_t number, const void *payload, size_t length);
/* False if the host sent more than its window. */
bool take_from_host(struct carried *stream, const char *bytes, size_t length);
void end_by_host(struct carried *stream);
void feed_carried(struct carried *stream);
void read_carried(struct carried *stream);
void drop_carried(struct carried *stream);
short events_wanted(const struct carried *stream);
