#pragma once

#include "keeper/network/address.h"
#include "keeper/network/questions.h"

struct broker {
	const struct plan *plan;
	int door; /* where the tool's sockets are connected to, or -1 */
	struct sockaddr_in door_address;
	struct questions questions;
};

/* Listens on the loopback, at any port when `port` is 0. -1 with errno. */
int open_door(uint16_t port, struct sockaddr_in *address);
/* Before privileges are dropped. False where the kernel or the plan alone decides. */
bool open_broker(struct broker *broker, const struct plan *plan, int supervisor, struct told *told);
int answer_brokered(const struct notification *call, const union address *address, socklen_t length);
void watch_broker(struct broker *broker, struct watched *watched);
/* Returns what follows in `polled`. */
const struct pollfd *answer_broker(struct broker *broker, const struct pollfd *polled);
