#pragma once

#include "wire/system.h"

/* The wall that the host asks for. Points into the frame. */
struct wall_request {
	uint64_t inputs; /* how many frames for the wall itself follow */
	const char *folder; /* the private folder of the cell, if it is one of the host */
	char **command; /* ends with NULL */
};

/* NULL, or what is wrong. */
const char *parse_wall_request(char *bytes, size_t length, struct wall_request *request);
void free_wall_request(struct wall_request *request);
