/*
 * Asks for connections that never come about, and dies while it waits: whoever
 * waits in its place may be forgotten. Usage: blocked-connects FOLDER COUNT
 * Prints "asked" when all of them were asked for, and stays for two seconds.
 */
#include "route.h"
#include <sys/socket.h>
#include <sys/un.h>

int main(int count, char **words)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (count != 3) return 64;
	snprintf(address.sun_path, sizeof address.sun_path, "%s/full", words[1]);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 0) < 0) unable("listen");
	/* Its queue is full after the first ones; all others wait. */
	for (long i = 0; i < strtol(words[2], NULL, 10); i++) {
		pid_t child = fork();
		if (child < 0) {
			usleep(1000);
			continue;
		}
		if (child == 0) {
			connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
			for (;;) pause();
		}
		usleep(2000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	printf("asked\n");
	fflush(stdout);
	sleep(2);
	return 0;
}
