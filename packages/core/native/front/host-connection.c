/* Connections of a front to the local host. */
#include "front/host-connection.h"
#include "front/host-place.h"
#include "wire/frames.h"

/* What listens there could have any launcher of ours started, so it must be beside us, and not in a cell. */
static bool is_host(struct local_host *host, int connection)
{
	struct stand own;

	if (host->peer.process >= 0)
		return is_peer(&host->peer, connection);
	return look_at_ourselves(&own) && find_peer_beside(&own, connection, &host->peer);
}

int connect_to_host(struct local_host *host, const char *purpose, int type)
{
	struct sockaddr_un address;
	struct timeval patience = { .tv_sec = PATIENCE / 1000 };
	int fd = find_host(host->build, purpose, &address) ? socket(AF_UNIX, type | SOCK_CLOEXEC, 0) : -1;

	/* Before connect(), which waits where too many others do. */
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && is_host(host, fd))
		return fd;
	close_descriptor(&fd);
	return -1;
}

static bool send_all(int connection, const char *bytes, size_t length, uint64_t until)
{
	while (length > 0 && milliseconds() < until) {
		ssize_t sent = send(connection, bytes, length, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return false;
		bytes += sent < 0 ? 0 : sent;
		length -= sent < 0 ? 0 : sent;
	}
	return length == 0;
}

bool tell_host(int connection, char kind, const void *payload, size_t length)
{
	unsigned char header[FRAME_HEADER];
	uint64_t until = milliseconds() + PATIENCE;

	write_header(header, kind, length);
	return send_all(connection, (const char *)header, sizeof header, until) &&
	       send_all(connection, payload, length, until);
}
