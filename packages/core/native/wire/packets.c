/* Packets between the processes of a cell; a descriptor may travel along (SCM_RIGHTS). */
#include "wire/packets.h"
#include "wire/report.h"

bool send_along(int fd, const void *bytes, size_t length, int descriptor, int flags)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)bytes, length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (descriptor >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof control.room;
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
	}
	while (sendmsg(fd, &message, flags | MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

bool offer_packet(int fd, char kind, int value, const char *text, int descriptor)
{
	struct packet packet = { .kind = kind, .value = value };
	size_t length = text ? strnlen(text, sizeof packet.text) : 0;

	memcpy(packet.text, text ? text : "", length);
	return send_along(fd, &packet, PACKET_HEADER + length, descriptor, 0);
}

void send_packet(int fd, char kind, int value, const char *text, int descriptor)
{
	/* The other side is gone, and with it the call. */
	if (!offer_packet(fd, kind, value, text, descriptor))
		_exit(EXIT_REFUSED);
}

ssize_t receive_along(int fd, void *bytes, size_t room, int *descriptor, pid_t *sender)
{
	union {
		char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct iovec part = { bytes, room };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room
	};
	ssize_t got;

	*descriptor = -1;
	do
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
		if (header->cmsg_level != SOL_SOCKET)
			continue;
		if (header->cmsg_type == SCM_RIGHTS)
			memcpy(descriptor, CMSG_DATA(header), sizeof(int));
		if (header->cmsg_type == SCM_CREDENTIALS && sender)
			*sender = ((struct ucred *)CMSG_DATA(header))->pid;
	}
	return got;
}

ssize_t receive_packet(int fd, struct packet *packet, int *descriptor, pid_t *sender)
{
	ssize_t got = receive_along(fd, packet, sizeof *packet - 1, descriptor, sender);

	if (got < (ssize_t)PACKET_HEADER)
		return got < 0 ? -1 : 0;
	((char *)packet)[got] = '\0';
	return got;
}
