#pragma once

#include "keeper/call/notification.h"

#include <netinet/in.h>
#include <sys/un.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	char bytes[sizeof(struct sockaddr_storage)];
};

void report_address_violation(const struct notification *call, const char *kind, const union address *address);
bool is_loopback(const union address *address);
