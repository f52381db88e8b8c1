/* Streams of the caller that the tool must not hold itself, see copier.c. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* A chatty program wakes the supervisor less often with more room. */
#define STREAM_BUFFER (256 << 10)

struct copiers {
	pid_t pids[3];
	bool gives_back; /* stdin is a file, whose position is left behind what was read */
};

/* The tool's end of the caller's stdin, stdout or stderr. */
int take_caller_stream(int number, struct copiers *copiers);
bool is_same_file(int one, int other);
void finish_input(const struct copiers *copiers);
void end_copiers(const struct copiers *copiers);
