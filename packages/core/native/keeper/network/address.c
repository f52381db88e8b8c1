/* Addresses that a tool hands to connect() and bind(). */
#include "keeper/network/address.h"
#include "wire/report.h"

#include <arpa/inet.h>

/* Room for the longest path or name: each of its bytes as \u00XX. */
#define ADDRESS_FIELDS (6 * sizeof(struct sockaddr_un) + 64)

/* As fields of a report. */
static void describe_address(const union address *address, char *into, size_t room)
{
	char host[INET6_ADDRSTRLEN], name[sizeof address->local.sun_path + 1] = "", escaped[ADDRESS_FIELDS];
	bool abstract = address->local.sun_path[0] == '\0';

	switch (address->any.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
		snprintf(into, room, "\"family\":\"inet\",\"address\":\"%s\",\"port\":%u", host,
			 ntohs(address->v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof host);
		snprintf(into, room, "\"family\":\"inet6\",\"address\":\"%s\",\"port\":%u", host,
			 ntohs(address->v6.sin6_port));
		break;
	case AF_UNIX:
		memcpy(name, address->local.sun_path + abstract, sizeof address->local.sun_path - abstract);
		json_escape(escaped, sizeof escaped, name);
		if (abstract)
			snprintf(into, room, "\"family\":\"abstract\",\"name\":\"%s\"", escaped);
		else
			snprintf(into, room, "\"family\":\"unix\",\"path\":\"%s\"", escaped);
		break;
	default: snprintf(into, room, "\"family\":\"other\",\"number\":%d", address->any.sa_family);
	}
}

void report_address_violation(const struct notification *call, const char *kind, const union address *address)
{
	char fields[ADDRESS_FIELDS + 64];

	describe_address(address, fields, sizeof fields);
	report_violation(call, kind, fields);
}

bool is_loopback(const union address *address)
{
	static const struct in6_addr mapped = { .s6_addr = { [10] = 0xff, [11] = 0xff, [12] = 127 } };

	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr) || memcmp(&address->v6.sin6_addr, &mapped, 13) == 0;
}
