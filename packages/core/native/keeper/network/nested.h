#pragma once

#include "keeper/network/broker.h"

#define MOST_NESTED 64
#define MOST_DEEPER 16 /* of these, asked for by cells that are inside another one themselves */

/* One cell inside this one: its mark, its destinations, and the stream by which its supervisor is told. */
struct nested {
	uint64_t mark;
	bool deeper;
	char *words; /* which the plan points into */
	struct plan plan; /* the form and the destinations, no more */
	struct broker broker; /* the `supervisor` of its questions is our end of the stream */
	struct told told;
};

/* All of them. */
struct nest {
	const struct plan *plan;
	struct broker *own; /* of the cell itself, or NULL */
	int door; /* that of `own`, or opened for the first cell inside */
	struct sockaddr_in door_address;
	uint64_t unmarked; /* what processes of the cell itself have where cells inside have their mark */
	struct nested *at[MOST_NESTED];
	size_t count, polled; /* and how many of them were polled */
};

void open_nest(struct nest *nest, const struct plan *plan, struct broker *own);
/* What is longer than an address: a cell asks to be known here. */
int answer_request(const struct notification *call, size_t length);

enum whose { OF_CELL, OF_NESTED, OF_STRANGER };

/* Whose call it is. `into` becomes the cell inside. */
enum whose whose_call(const struct notification *call, struct nested **into);

/* The answer to a call on a file by a process of a cell inside; NOT_OURS for others. */
int answer_nested_file(const struct notification *call);

void watch_nested(struct nest *nest, struct watched *watched);
void hear_nested(struct nest *nest, const struct pollfd *polled);
