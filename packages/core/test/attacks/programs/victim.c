/*
 * Not an attack: a process of the host that attacks try to reach. Holds a
 * secret in its memory and, as an open descriptor, a secret file. Prints
 *   {"pid":…,"address":…,"fd":…}
 * and, at the end of its input, {"signals":…,"memory":"…"}: what reached it.
 *
 * Usage: victim SECRET_FILE [MARK]      (MARK only shows in the command line)
 */
#include "route.h"

static volatile sig_atomic_t signals;
static char memory[128] = "SECRET in memory";

static void count_signal(int number)
{
	(void)number;
	signals++;
}

int main(int count, char **words)
{
	struct sigaction counting = { .sa_handler = count_signal };
	char byte;
	if (count < 2) return 64;
	int fd = open(words[1], O_RDONLY);
	if (fd < 0) unable(words[1]);
	sigaction(SIGURG, &counting, NULL);
	/* A group of its own, so that a signal to the group is counted here alone. */
	setpgid(0, 0);
	printf("{\"pid\":%d,\"address\":\"%lu\",\"fd\":%d}\n", getpid(), (unsigned long)memory, fd);
	fflush(stdout);
	while (read(0, &byte, 1) != 0) {}
	printf("{\"signals\":%d,\"memory\":\"%s%s\"}\n", (int)signals, memory, memory + 64);
	return 0;
}
