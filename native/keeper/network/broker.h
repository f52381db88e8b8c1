/* The way to granted hosts, see broker.c. */
#ifndef CORDON_BROKER_H
#define CORDON_BROKER_H

#include "keeper/network/connect.h"
#include "keeper/network/dns.h"

#include <poll.h>

#define MOST_CONVERSATIONS 16
#define BROKER_DESCRIPTORS (2 + MOST_CONVERSATIONS)

/* Names asked for over a stream. */
struct conversation {
	int stream; /* -1: none */
	size_t length;
	uint8_t bytes[2 + DNS_MOST];
};

/* Of a tool that tries the same thing a million times each is told once, and not more than a few hundred. */
#define MOST_TOLD 512
struct told {
	uint64_t at[MOST_TOLD];
	size_t count;
};

struct broker {
	const struct plan *plan;
	int supervisor;
	int datagrams; /* where names are asked for, or -1 */
	int door;      /* where the tool's sockets are connected to, or -1 */
	struct sockaddr_in door_address;
	struct known_names names;
	struct conversation conversations[MOST_CONVERSATIONS];
	struct told *told; /* of a cell inside this one, see nested.c; otherwise NULL */
};

/* Listens on the loopback, at any port when `port` is 0. -1 with errno. */
int open_door(uint16_t port, struct sockaddr_in *address);
/* Before privileges are dropped. */
void open_broker(struct broker *broker, const struct plan *plan, int supervisor);
void answer_brokered(const struct notification *call, const union address *address, socklen_t length);
void turn_strangers_away(const struct broker *broker);

/* ---- questions.c ---- */

/* Room for BROKER_DESCRIPTORS. Returns how many there are. */
size_t watch_questions(const struct broker *broker, struct pollfd *polled);
void answer_questions(struct broker *broker, const struct pollfd *polled, size_t count);
/* Of conversations alone. */
void hear_questions(struct broker *broker, const struct pollfd *polled, size_t count);
/* One end of a new conversation, for the tool; -1 with errno. */
int begin_conversation(struct broker *broker, int flags);

#endif
