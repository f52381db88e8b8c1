/*
 * Descriptors for the host. Node takes a listening socket on the channel that it
 * opens for a child (`stdio: 'ipc'`): one line of JSON with the descriptor
 * attached. It acknowledges each; the nursery drops that, and so does the end of
 * a launcher that was started by itself. See docs/decisions/ for why.
 */
#include "cell.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void hand_over_door(const struct plan *plan, int channel, int door)
{
	char line[256];
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };

	int length = snprintf(line, sizeof line, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":{\"cordon\":\"%.64s\"}}\n", plan->broker.token);
	struct iovec part = { line, length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &door, sizeof(int));
	ssize_t sent;
	do
		sent = channel < 0 ? -1 : sendmsg(channel, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR && channel >= 0);
	if (sent != length)
		die("broker", "the host takes no descriptors");
}
