/* The message of a coding agent to its hook. */
#include "front/message.h"
#include "wire/frames.h"

#include <sys/mman.h>

/* More than Node takes, which then says so. */
#define MOST_BYTES (34 << 20)
/* An agent gives its hook longer. Node then says what is wrong with the part that came. */
#define PATIENCE 15000

int take_message(void)
{
	char bytes[65536];
	int message = memfd_create("cordon-message", MFD_CLOEXEC);
	uint64_t until = milliseconds() + PATIENCE;
	size_t length = 0;

	for (uint64_t now; message >= 0 && length < MOST_BYTES && (now = milliseconds()) < until;) {
		struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
		if (poll(&input, 1, (int)(until - now)) <= 0)
			continue;
		ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			break;
		if (!write_fully(message, bytes, got)) {
			close_descriptor(&message);
			return -1;
		}
		length += got;
	}
	if (message >= 0)
		lseek(message, 0, SEEK_SET);
	return message;
}
