/*
 * Makes processes or threads until GOAL of them live at once, and stops there:
 * the goal is the bomb, and it is defused even where nothing holds it.
 *
 *   process-bomb fork|orphans|threads|starved GOAL [MARK]
 *
 * `starved` first takes the right to open files from whoever counts them;
 * `orphans` leave their session and their parent, so that no group holds them;
 * MARK only shows in their command lines.
 */
#include "route.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

static long *alive; /* shared by all of them */

static void *wait_for_ever(void *unused)
{
	__atomic_add_fetch(alive, 1, __ATOMIC_SEQ_CST);
	for (;;) pause();
	return unused;
}

static bool one_more(const char *kind)
{
	if (strcmp(kind, "threads") == 0) {
		pthread_attr_t small;
		pthread_t thread;
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 16384);
		errno = pthread_create(&thread, &small, wait_for_ever, NULL);
		return errno == 0;
	}
	pid_t child = fork();
	if (child < 0) return false;
	if (child > 0) {
		if (strcmp(kind, "orphans") == 0) waitpid(child, NULL, 0);
		return true;
	}
	if (strcmp(kind, "orphans") == 0) {
		setsid();
		if (fork() != 0) _exit(0);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		/* Whoever waits for the end of the output does not wait for these. */
		for (int fd = 0; fd < 3; fd++) close(fd);
	}
	alarm(60);
	wait_for_ever(NULL);
	return false;
}

int main(int count, char **words)
{
	char detail[64];
	long goal, made = 0;
	if (count < 3) return 64;
	goal = strtol(words[2], NULL, 10);
	if (strcmp(words[1], "starved") == 0) {
		struct rlimit few = { 3, 3 }; /* enough to go on, not enough to look anything up */
		/* Process 1 of a bare host is nobody who counts us; its limits are left alone. */
		if (getppid() != 1 || getpid() < 20) prlimit(getppid(), RLIMIT_NOFILE, &few, NULL);
	}
	alive = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* A refused fork is tried again: a bomb does not give up. */
	for (int refusals = 0; made < goal && refusals < 300;) {
		if (one_more(words[1])) made++;
		else refusals++, usleep(1000);
	}
	for (int i = 0; i < 2000 && __atomic_load_n(alive, __ATOMIC_SEQ_CST) < goal; i++) usleep(1000);
	long reached_count = __atomic_load_n(alive, __ATOMIC_SEQ_CST);
	snprintf(detail, sizeof detail, "%ld alive", reached_count);
	report(words[1], reached_count >= goal, detail);
	if (strcmp(words[1], "orphans") != 0) signal(SIGTERM, SIG_IGN), kill(0, SIGTERM);
	return 0;
}
