/*
 * Keeps a supervisor that answers trapped calls busy: many threads ask at once
 * and are interrupted while they wait; processes that wait for an answer are
 * killed. Then ends with 9, which must still be noticed. Usage: notify-flood MILLISECONDS
 */
#include "route.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

static volatile bool over;

static void interrupt(int number) { (void)number; }

static void *ask(void *unused)
{
	struct sockaddr_in inet = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/tmp/nobody" };
	while (!over) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(fd, (struct sockaddr *)&inet, sizeof inet);
		connect(other, (struct sockaddr *)&local, sizeof local);
		/* Pointers that a supervisor cannot read. */
		connect(other, (struct sockaddr *)8, sizeof local);
		connect(other, (struct sockaddr *)&local, 1 << 20);
		chmod("/tmp/nobody", 0600);
		chmod((char *)8, 0600);
		close(fd);
		close(other);
	}
	return unused;
}

static void churn(void)
{
	pid_t child = fork();
	if (child == 0) {
		ask(NULL);
		_exit(0);
	}
	if (child < 0) return;
	usleep(500);
	/* Killed in the middle of a question. */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
	struct sigaction interrupting = { .sa_handler = interrupt };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct timespec start, now;
	pthread_t threads[24];
	if (count != 2) return 64;
	long duration = strtol(words[1], NULL, 10);
	sigaction(SIGALRM, &interrupting, NULL);
	for (size_t i = 0; i < 24; i++) if (pthread_create(&threads[i], NULL, ask, NULL) != 0) break;
	setitimer(ITIMER_REAL, &often, NULL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		churn();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < duration);
	/* Ends while the other threads are still asking. */
	_exit(9);
}
