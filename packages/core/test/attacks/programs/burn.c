/*
 * Uses up time or room for output, up to a goal.
 *
 *   burn cpu SECONDS           spins in this process
 *   burn cpu-setsid SECONDS    spins in a process that left session and parent
 *   burn cpu-children SECONDS  spins in many short-lived children, one after another
 *   burn cpu-orphans SECONDS   the same, each without a parent that would wait for it
 *   burn cpu-ignored SECONDS   the same, and nobody asks how they ended
 *   burn cpu-threads SECONDS   spins in four threads
 *   burn out|err MEGABYTES     prints
 *   burn sleep SECONDS         does nothing
 *   burn files COUNT           opens files
 *   burn file MEGABYTES PATH   writes one large file
 */
#include "route.h"
#include <pthread.h>
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void spin(double seconds)
{
	double end = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;
	while (now(CLOCK_PROCESS_CPUTIME_ID) < end) {}
}

static void *spin_in_thread(void *seconds)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + *(double *)seconds;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end) {}
	return NULL;
}

static void spin_detached(double seconds)
{
	int channel[2];
	char done;
	if (pipe(channel) < 0) unable("pipe");
	if (fork() == 0) {
		setsid();
		if (fork() != 0) _exit(0);
		spin(seconds);
		_exit(write(channel[1], "x", 1) == 1 ? 0 : 1);
	}
	wait(NULL);
	close(channel[1]);
	if (read(channel[0], &done, 1) != 1) report("cpu-setsid", false, "the spinner was ended"), exit(0);
}

static void spin_in_children(double seconds)
{
	for (double spent = 0; spent < seconds; spent += 0.02) {
		pid_t child = fork();
		if (child < 0) unable("fork");
		if (child == 0) spin(0.02), _exit(0);
		waitpid(child, NULL, 0);
	}
}

/* What a child used is added to whoever waits for it; here that is nobody of the tool's. */
static void spin_in_orphans(double seconds)
{
	for (double spent = 0; spent < seconds; spent += 0.02) {
		int channel[2];
		char done;
		if (pipe(channel) < 0) unable("pipe");
		pid_t child = fork();
		if (child < 0) unable("fork");
		if (child == 0) {
			if (fork() != 0) _exit(0);
			spin(0.02);
			_exit(write(channel[1], "x", 1) == 1 ? 0 : 1);
		}
		waitpid(child, NULL, 0);
		close(channel[1]);
		if (read(channel[0], &done, 1) < 0) unable("read");
		close(channel[0]);
	}
}

static void print(FILE *to, long megabytes)
{
	static char block[1 << 20];
	memset(block, 'x', sizeof block);
	block[sizeof block - 1] = '\n';
	for (long i = 0; i < megabytes; i++) if (fwrite(block, 1, sizeof block, to) != sizeof block) exit(0);
}

int main(int count, char **words)
{
	if (count < 3) return 64;
	const char *kind = words[1];
	double amount = strtod(words[2], NULL);
	if (strcmp(kind, "cpu") == 0) spin(amount);
	else if (strcmp(kind, "cpu-setsid") == 0) spin_detached(amount);
	else if (strcmp(kind, "cpu-children") == 0) spin_in_children(amount);
	else if (strcmp(kind, "cpu-orphans") == 0) spin_in_orphans(amount);
	else if (strcmp(kind, "cpu-ignored") == 0) signal(SIGCHLD, SIG_IGN), spin_in_children(amount);
	else if (strcmp(kind, "cpu-threads") == 0) {
		pthread_t threads[4];
		double share = amount / 4;
		for (int i = 0; i < 4; i++) if (pthread_create(&threads[i], NULL, spin_in_thread, &share) != 0) unable("thread");
		for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	} else if (strcmp(kind, "sleep") == 0) sleep((unsigned)amount);
	else if (strcmp(kind, "files") == 0) {
		for (long i = 0; i < (long)amount; i++) if (open("/dev/null", O_RDONLY) < 0) return report(kind, false, error_name(errno)), 0;
	} else if (strcmp(kind, "file") == 0) {
		static char block[1 << 20];
		int fd = open(words[3], O_CREAT | O_WRONLY, 0600);
		signal(SIGXFSZ, SIG_IGN);
		for (long i = 0; i < (long)amount; i++) if (write(fd, block, sizeof block) != sizeof block) return report(kind, false, error_name(errno)), 0;
	} else return print(strcmp(kind, "out") == 0 ? stdout : stderr, (long)amount), 0;
	report(kind, true, "to the end");
	return 0;
}
