#pragma once

#include "wire/system.h"

enum frame_kind {
	/* from the host */
	FRAME_WALL = 'L', /* to a nursery, before everything else: a wall is started around the launcher */
	FRAME_HEAD_START = 'H', /* before the plan, and only then: namespaces may be made for one with this network */
	FRAME_PLAN = 'P',
	FRAME_COMMAND = 'C',
	FRAME_INPUT = 'I', /* empty: end of input */
	FRAME_KILL = 'K',
	FRAME_SIGNAL = 'S',
	FRAME_WINDOW = 'W', /* the caller's terminal has another size now */
	FRAME_TAKE_TERMINAL = 'T', /* the tool may have the caller's terminal */
	FRAME_BEGIN = 'B', /* the call begins: its clock starts, where the plan says that it waits for this */
	/* to the host */
	FRAME_EVENT = 'E',
	FRAME_STDOUT = 'o',
	FRAME_STDERR = 'e',
};

#define FRAME_HEADER 5
#define FRAME_LIMIT (64u << 20)

bool write_frame(int host, char kind, const void *payload, size_t length);
bool write_fully(int fd, const void *bytes, size_t length);
/* The bytes before a payload of this length. */
void write_header(unsigned char header[FRAME_HEADER], char kind, size_t length);
