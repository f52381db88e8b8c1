/* What a tool may be connected to, through the proxy: names, all below a name, and blocks of addresses. */
#include "wire/reach.h"
#include "wire/words.h"

#include <arpa/inet.h>

const char *const reach_kinds[] = { [REACH_NAME] = "name", [REACH_BELOW] = "below", [REACH_BLOCK] = "block" };

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
	uint64_t bits;

	if (length == 0 || length >= sizeof address || !parse_number(slash + 1, &bits) || bits > 128)
		return false;
	memcpy(address, value, length);
	address[length] = '\0';
	into->bits = (unsigned)bits;
	if (inet_pton(AF_INET6, address, into->address) == 1)
		return true;
	if (inet_pton(AF_INET, address, &narrow) != 1 || bits > 32)
		return false;
	write_mapped(&narrow, into->address);
	into->bits += 96;
	return true;
}

bool parse_reach(const char *kind, const char *value, const char *port, struct reach *into)
{
	unsigned at = 0;

	while (at < COUNT_OF(reach_kinds) && strcmp(kind, reach_kinds[at]) != 0)
		at++;
	*into = (struct reach){ .kind = at, .name = value };
	if (at == COUNT_OF(reach_kinds) || !parse_port(port, &into->port))
		return false;
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

static bool begin_alike(const uint8_t left[16], const uint8_t right[16], unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(left, right, whole) != 0)
		return false;
	return rest == 0 || ((left[whole] ^ right[whole]) >> (8 - rest)) == 0;
}

bool reaches_address(const struct broker_terms *terms, const uint8_t address[16], uint16_t port)
{
	for (const struct reach *each = terms->reaches; each < terms->reaches + terms->reach_count; each++)
		if (each->kind == REACH_BLOCK && (!port || each->port == port) &&
		    begin_alike(each->address, address, each->bits))
			return true;
	return false;
}

bool reaches_into(const struct broker_terms *terms, const uint8_t block[16], unsigned bits)
{
	for (const struct reach *each = terms->reaches; each < terms->reaches + terms->reach_count; each++)
		if (each->kind == REACH_BLOCK &&
		    begin_alike(each->address, block, each->bits < bits ? each->bits : bits))
			return true;
	return false;
}
