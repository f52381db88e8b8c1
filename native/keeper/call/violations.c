/* What the tool tried and the boundary refused, told to the host. */
#include "keeper/call/violations.h"
#include "wire/hash.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void report_violation(const struct notification *call, const char *kind, const char *fields)
{
	char line[3800];

	snprintf(line, sizeof line, "{\"event\":\"violation\",\"kind\":\"%s\",%s}", kind, fields);
	if (!is_first_sight(call->told->at, &call->told->count, MOST_TOLD,
			    hash_bytes(HASH_OF_NOTHING, line, strlen(line))))
		return;
	/* A cell inside may be gone, or not listen: that is its own loss. */
	if (!offer_packet(call->supervisor, PACKET_EVENT, 0, line, -1) && !call->told->of_nested)
		_exit(EXIT_REFUSED);
}

void report_path_violation(const struct notification *call, const char *kind, const char *path)
{
	char escaped[3000], fields[3100];

	json_escape(escaped, sizeof escaped, path);
	snprintf(fields, sizeof fields, "\"path\":\"%s\"", escaped);
	report_violation(call, kind, fields);
}
