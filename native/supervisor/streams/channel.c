/*
 * Connections for the host. Node takes descriptors on the channel that it opens for
 * a child (`stdio: 'ipc'`): one line of JSON with the descriptor attached. It
 * acknowledges each, which nobody needs. See decision 12.
 *
 * The supervisor never waits for the host, or its clocks would stop: what the
 * channel does not take is kept.
 */
#include "supervisor/streams/channel.h"
#include "wire/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_WAITING 4096

struct parcel {
	int connection;
	char whom[WHOM_ROOM];
};

/* False when it has to wait. A connection that the host does not get is closed, and the tool sees that. */
static bool hand_over(const struct courier *courier, const struct parcel *parcel)
{
	char line[128 + sizeof parcel->whom], ignored[4096];
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };

	while (recv(courier->channel, ignored, sizeof ignored, MSG_DONTWAIT) > 0)
		; /* acknowledgements */
	int length = snprintf(
		line, sizeof line,
		"{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"cordon\":\"%.64s\",\"to\":\"%s\"}}\n",
		courier->token, parcel->whom);
	struct iovec part = { line, length };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &parcel->connection, sizeof(int));
	while (sendmsg(courier->channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return errno != EAGAIN;
	return true;
}

void courier_take(struct courier *courier, const char *whom, int connection)
{
	struct parcel parcel = { .connection = connection };

	snprintf(parcel.whom, sizeof parcel.whom, "%s", whom);
	if (courier->channel < 0 || (courier->count == 0 && hand_over(courier, &parcel))) {
		close(connection);
		return;
	}
	/* More than a host could ever take: the tool sees an end. */
	if (courier->count == MOST_WAITING) {
		close(connection);
		return;
	}
	courier->parcels = grow(courier->parcels, courier->count, sizeof parcel);
	courier->parcels[courier->count++] = parcel;
}

void courier_go(struct courier *courier)
{
	size_t gone = 0;

	while (gone < courier->count && hand_over(courier, &courier->parcels[gone]))
		close(courier->parcels[gone++].connection);
	courier->count -= gone;
	memmove(courier->parcels, courier->parcels + gone, courier->count * sizeof *courier->parcels);
}
