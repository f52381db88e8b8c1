#pragma once

#include "keeper/network/dns.h"

struct told; /* keeper/call/notification.h */

/* A program asks for as many names at once as it has threads that do. */
#define MOST_CONVERSATIONS 256

/* What is polled next. */
struct watched {
	struct pollfd *at;
	size_t count;
};

/* Names asked for over a stream. */
struct conversation {
	int stream; /* -1: none */
	size_t length;
	uint8_t bytes[2 + DNS_MOST];
};

struct questions {
	const struct broker_terms *terms;
	int supervisor; /* who is told of names that are refused */
	struct told *told;
	int datagrams; /* where names are asked for, or -1 */
	struct known_names names;
	struct conversation *conversations; /* the places of those that ended are used again */
	size_t count, polled; /* places, and those that were polled */
	unsigned next; /* the conversation that ends when there are too many */
};

/* No questions yet. */
void begin_questions(struct questions *questions, const struct broker_terms *terms, int supervisor, struct told *told);
void end_questions(struct questions *questions);
void answer_datagram(struct questions *questions);
void watch(struct watched *watched, int fd, short events);
void watch_conversations(struct questions *questions, struct watched *watched);
/* Returns what follows in `polled`. */
const struct pollfd *hear_conversations(struct questions *questions, const struct pollfd *polled);
/* One end of a new conversation, for the tool; -1 with errno. */
int begin_conversation(struct questions *questions, int flags);
