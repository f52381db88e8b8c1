/* What a tool may be connected to, by way of the proxy: names, all below a name, and blocks of addresses. */
#include "wire/reach.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static bool parse_decimal(const char *text, unsigned most, unsigned *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	unsigned long value = strtoul(text, &end, 10);
	*number = (unsigned)value;
	return *end == '\0' && value <= most;
}

void write_mapped(const struct in_addr *address, uint8_t into[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(into, mapped, sizeof mapped);
	memcpy(into + sizeof mapped, address, sizeof *address);
}

static bool parse_block(const char *value, struct reach *into)
{
	struct in_addr narrow;
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(value, '/');
	size_t length = slash ? (size_t)(slash - value) : 0;

	if (length == 0 || length >= sizeof address)
		return false;
	memcpy(address, value, length);
	address[length] = '\0';
	if (inet_pton(AF_INET6, address, into->address) == 1)
		return parse_decimal(slash + 1, 128, &into->bits);
	if (inet_pton(AF_INET, address, &narrow) != 1 || !parse_decimal(slash + 1, 32, &into->bits))
		return false;
	write_mapped(&narrow, into->address);
	into->bits += 96;
	return true;
}

bool parse_reach(const char *kind, const char *value, const char *port, struct reach *into)
{
	static const char *const kinds[] = { [REACH_NAME] = "name", [REACH_BELOW] = "below", [REACH_BLOCK] = "block" };
	unsigned number, at = 0;

	while (at < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[at]) != 0)
		at++;
	*into = (struct reach){ .kind = at, .name = value };
	if (at == sizeof kinds / sizeof *kinds || !parse_decimal(port, UINT16_MAX, &number) || number == 0)
		return false;
	into->port = (uint16_t)number;
	return into->kind == REACH_BLOCK ? parse_block(value, into) : *value != '\0';
}

static bool is_below(const char *name, const char *parent)
{
	size_t length = strlen(name), tail = strlen(parent);

	return length > tail + 1 && name[length - tail - 1] == '.' && strcasecmp(name + length - tail, parent) == 0;
}

bool reaches_name(const struct broker_terms *terms, const char *name, uint16_t port)
{
	for (const struct reach *each = terms->reaches; each < terms->reaches + terms->reach_count; each++) {
		if (port && each->port != port)
			continue;
		if (each->kind == REACH_NAME ? strcasecmp(each->name, name) == 0
					     : each->kind == REACH_BELOW && is_below(name, each->name))
			return true;
	}
	return false;
}

static bool lies_in(const struct reach *block, const uint8_t address[16])
{
	unsigned whole = block->bits / 8, rest = block->bits % 8;

	if (memcmp(block->address, address, whole) != 0)
		return false;
	return rest == 0 || ((block->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

bool reaches_address(const struct broker_terms *terms, const uint8_t address[16], uint16_t port)
{
	for (const struct reach *each = terms->reaches; each < terms->reaches + terms->reach_count; each++)
		if (each->kind == REACH_BLOCK && (!port || each->port == port) && lies_in(each, address))
			return true;
	return false;
}
