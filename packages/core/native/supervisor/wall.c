/*
 * A wall around one launcher: a program of the system that makes namespaces
 * (bubblewrap, firejail). The nursery starts it for the same reason as a cell:
 * a spawn from Node takes about as long as the wall itself.
 */
#include "supervisor/wall.h"
#include "boundary/scratch.h"
#include "supervisor/wall-request.h"
#include "wire/read-frame.h"
#include "wire/report.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define HOST 3 /* of the launcher inside, with its channel behind it */
#define FIRST_INPUT 5 /* what the wall itself reads */
#define MOST_SAID 4096
#define REMOVALS 50
#define BETWEEN_REMOVALS_MS 100

bool asks_for_wall(int host)
{
	char kind;
	ssize_t got;

	do
		got = recv(host, &kind, 1, MSG_PEEK);
	while (got < 0 && errno == EINTR);
	return got == 1 && kind == FRAME_WALL;
}

static struct frame next_frame(void)
{
	struct frame frame;

	if (!read_frame(HOST, &frame))
		_exit(EXIT_REFUSED); /* nobody there to tell */
	return frame;
}

static int memory_file(void)
{
	int fd = -1;

	/* Some hosts refuse files that could be executed. Older kernels do not know the flag. */
#ifdef MFD_NOEXEC_SEAL
	fd = memfd_create("wall", MFD_NOEXEC_SEAL);
#endif
	return fd < 0 ? memfd_create("wall", 0) : fd;
}

/* Nothing above FIRST_INPUT is open yet, so that each gets the next number. */
static void open_inputs(uint64_t count)
{
	for (uint64_t at = 0; at < count; at++) {
		struct frame input = next_frame();
		int fd = memory_file();

		if (fd < 0 || (uint64_t)fd != FIRST_INPUT + at || !write_fully(fd, input.payload, input.length) ||
		    lseek(fd, 0, SEEK_SET) < 0)
			die("wall", "input");
		free(input.payload);
	}
}

/* A launcher that ended by itself has removed it. Otherwise its last processes may still be on their way out. */
static void remove_leftovers(const char *folder)
{
	for (int removals = 0; *folder && !remove_folder(folder) && removals < REMOVALS; removals++)
		poll(NULL, 0, BETWEEN_REMOVALS_MS);
}

static _Noreturn void report_end(int status)
{
	char said[MOST_SAID + 1];
	ssize_t length = pread(STDERR_FILENO, said, MOST_SAID, 0);

	if (length > 0)
		said[length] = '\0';
	else
		snprintf(said, sizeof said, "it ended with %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	die("wall", said);
}

_Noreturn void run_wall(int host, int channel)
{
	int status, said = memory_file();

	report_to(host);
	/* A wall ends with the host, even one that never starts its launcher. */
	if (said < 0 || dup2(said, STDERR_FILENO) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    dup2(host, HOST) < 0 || fcntl(channel, F_SETFD, 0) < 0)
		die("wall", "descriptors");
	close_range(FIRST_INPUT, ~0U, 0);
	report_to(HOST);
	struct frame frame = next_frame();
	struct wall_request asked;

	errno = EINVAL;
	const char *wrong = parse_wall_request(frame.payload, frame.length, &asked);
	if (wrong)
		die("wall", wrong);
	open_inputs(asked.inputs);
	pid_t wall = fork();
	if (wall < 0)
		die("wall", "fork");
	if (wall == 0) {
		/* Before anything that the launcher says. */
		report_event("{\"event\":\"wall\",\"pid\":%d}", getpid());
		execve(asked.command[0], asked.command, (char *[]){ NULL });
		perror(asked.command[0]);
		_exit(EXIT_REFUSED);
	}
	close_range(HOST + 1, ~0U, 0);
	while (waitpid(wall, &status, 0) < 0 && errno == EINTR)
		;
	remove_leftovers(asked.folder);
	report_end(status);
}
