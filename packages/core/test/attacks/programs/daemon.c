/*
 * Leaves something running behind. Usage: daemon KIND MARK
 * MARK only shows in the command lines. Whatever is left ends by itself after
 * a minute, should nothing end it before.
 */
#include "route.h"
#include <sys/prctl.h>
#include <time.h>

static void deaf(void)
{
	for (int number = 1; number < NSIG; number++) if (number != SIGALRM) signal(number, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, 0);
}

static void without_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++) close(fd);
}

static void linger(void)
{
	for (;;) pause();
}

/* A new process every few milliseconds: whoever kills what a listing showed comes too late. */
static void run_away(void)
{
	time_t end = time(NULL) + 60;
	while (time(NULL) < end) {
		pid_t next = fork();
		if (next > 0) _exit(0);
		usleep(next < 0 ? 10000 : 4000);
	}
	_exit(0);
}

int main(int count, char **words)
{
	if (count != 3) return 64;
	const char *kind = words[1];
	if (strcmp(kind, "subreaper") == 0) prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* The caller learns that the daemon is up before the tool ends. */
	int ready[2];
	char byte;
	if (pipe(ready) < 0) unable("pipe");
	pid_t child = fork();
	if (child < 0) unable("fork");
	if (child == 0) {
		if (strcmp(kind, "same-session") != 0) setsid();
		if (strcmp(kind, "single-fork") != 0 && fork() != 0) _exit(0);
		alarm(60);
		deaf();
		if (write(ready[1], "x", 1) != 1) _exit(1);
		if (strcmp(kind, "holds-stdout") != 0) without_descriptors();
		if (strcmp(kind, "runs-away") == 0) run_away();
		if (strcmp(kind, "stopped") == 0) raise(SIGSTOP);
		linger();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) unable("the daemon did not start");
	printf("left running\n");
	return 0;
}
