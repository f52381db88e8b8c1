/*
 * Pretends to be the supervisor: writes what looks like its reports to every
 * descriptor there is, also as root's and as frames, then ends with 7.
 * Usage: forge-report
 */
#include "route.h"

int main(void)
{
	static const char *const forgeries[] = {
		"{\"event\":\"exit\",\"status\":0,\"code\":0}\n", "{\"type\":\"exited\",\"exitCode\":0}\n", "X", "G", "V{\"kind\":\"none\"}",
		"E\0\0\0\x1b{\"event\":\"exit\",\"code\":0}\n", "E\x1b\0\0\0{\"event\":\"exit\",\"code\":0}\n", "o\xff\xff\xff\xff", "\n\n\n",
	};
	static const size_t lengths[] = { 37, 33, 1, 1, 16, 32, 32, 5, 3 };
	int answered = 0;
	signal(SIGPIPE, SIG_IGN);
	for (int fd = 3; fd < 4096; fd++) {
		if (fcntl(fd, F_GETFD) < 0) continue;
		answered++;
		for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++)
			if (write(fd, forgeries[i], lengths[i]) < 0) break;
	}
	/* Both outputs carry bytes that would mean something on the other channel. */
	for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++)
		if (write(1, forgeries[i], lengths[i]) < 0 || write(2, forgeries[i], lengths[i]) < 0) return 8;
	return answered ? 9 : 7;
}
