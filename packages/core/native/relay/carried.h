#pragma once

#include "wire/system.h"

#define RELAY_WINDOW (256u << 10)
#define LARGEST_PIECE (32u << 10)
#define RELAY_HEADER 9

enum relay_frame {
	RELAY_MOUNT = 'M', /* to the host, before the hello: see mounts.c */
	RELAY_HELLO = 'H', /* to the host, once: see hello.c */
	RELAY_OPEN = 'O', /* to the host: a connection of the tool, with the words of its channel */
	RELAY_DATA = 'D',
	RELAY_CREDIT = 'W', /* so many bytes more may be sent: four bytes, little endian */
	RELAY_END = 'E', /* no more data in this direction */
	RELAY_CLOSE = 'C', /* neither direction any more */
};

/* One connection that is carried over the attachment. Number 0 is the cell's own. */
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
void write_relay_frame(char kind, uint32_t number, const void *payload, size_t length);
/* False if the host sent more than its window. */
bool take_from_host(struct carried *carried, const char *bytes, size_t length);
void end_by_host(struct carried *carried);
void feed_carried(struct carried *carried);
void read_carried(struct carried *carried);
void drop_carried(struct carried *carried);
short events_wanted(const struct carried *carried);
