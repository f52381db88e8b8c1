/*
 * Connections on their way to the host. Node takes descriptors on the channel that it opens for a child
 * (`stdio: 'ipc'`): one line of JSON with the descriptor attached. It acknowledges each, which nobody needs. See
 * decision 12.
 *
 * The supervisor never waits for the host, or its clocks would stop: what the channel does not take is kept.
 */
#include "supervisor/streams/channel.h"
#include "wire/memory.h"
#include "wire/packets.h"

/* More than a host could ever take: then the tool sees an end. */
#define MOST_WAITING 4096

struct parcel {
	int connection;
	char whom[264];
};

/* False when it has to wait. A connection that the host does not get is closed, and the tool sees that. */
static bool hand_over(const struct courier *courier, const struct parcel *parcel)
{
	char line[128 + sizeof parcel->whom], ignored[4096];

	while (recv(courier->channel, ignored, sizeof ignored, MSG_DONTWAIT) > 0)
		; /* acknowledgements */
	int length = snprintf(
		line, sizeof line,
		"{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"cordon\":\"%.64s\",\"to\":\"%s\"}}\n",
		courier->token, parcel->whom);
	return send_along(courier->channel, line, length, parcel->connection, MSG_DONTWAIT) || errno != EAGAIN;
}

void courier_take(struct courier *courier, const char *whom, int connection)
{
	struct parcel parcel = { .connection = connection };

	snprintf(parcel.whom, sizeof parcel.whom, "%s", whom);
	if (courier->channel < 0 || courier->count == MOST_WAITING ||
	    (courier->count == 0 && hand_over(courier, &parcel)))
		close(connection);
	else
		APPEND(courier->parcels, courier->count, parcel);
}

void courier_go(struct courier *courier)
{
	size_t gone = 0;

	while (gone < courier->count && hand_over(courier, &courier->parcels[gone]))
		close(courier->parcels[gone++].connection);
	courier->count -= gone;
	memmove(courier->parcels, courier->parcels + gone, courier->count * sizeof *courier->parcels);
}
