/*
 * A front and its local host: what is asked, the signals of the job, and what the host has this process do. Nothing is
 * run twice: only while no command can have begun does the answer NOT_SERVED lead to Node.
 */
#include "front/ask-host.h"
#include "front/host-connection.h"
#include "front/host-place.h"
#include "front/request.h"
#include "front/start-launcher.h"
#include "wire/memory.h"
#include "wire/read-frame.h"
#include "wire/report.h"

#include <sys/mman.h>
#include <sys/signalfd.h>

/* Frames to the host, and from it. */
enum {
	TO_HOST_REQUEST = 'Q',
	TO_HOST_MESSAGE = 'M', /* what a hook reads */
	TO_HOST_SIGNAL = 'S', /* a number, and whether this job is in the foreground */
	TO_HOST_CONTINUED = 'C',
	FROM_HOST_NOT_SERVED = 'N',
	FROM_HOST_LAUNCH = 'L', /* start another launcher; with a payload: one whose tool may reach hosts */
	FROM_HOST_BEGIN = 'B', /* the command begins now */
	FROM_HOST_TEXT = 'T', /* the number of a stream, and what to write there */
	FROM_HOST_STOP = 'Z', /* stop this job: SIGTSTP, or SIGTTIN where it is in the background */
	FROM_HOST_EXIT = 'X',
};

/* Hosts take no more at once. */
#define MOST_MESSAGE (7 << 20)

#define EXIT_ENDED 125
/* Coding agents take it for a hook that blocks the call. */
#define EXIT_BLOCKED 2

struct front {
	struct local_host host;
	int connection, signals, message; /* `message`: of a hook, or -1 */
	pid_t launcher;
	bool begun; /* the command, or the answer of a hook: Node must not begin it again */
	sigset_t before; /* the mask of our caller */
};

static const int PASSED_ON[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH };

static void block_passed_on(struct front *front)
{
	sigset_t passed;

	sigemptyset(&passed);
	for (size_t i = 0; i < COUNT_OF(PASSED_ON); i++)
		sigaddset(&passed, PASSED_ON[i]);
	sigprocmask(SIG_BLOCK, &passed, &front->before);
	front->signals = signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool start(struct front *front, bool with_channel)
{
	end_launcher(&front->launcher);
	front->launcher = start_launcher(&front->host, with_channel, &front->before);
	return front->launcher > 0;
}

/* A larger one is for Node. */
static bool send_message(const struct front *front)
{
	struct stat found;
	void *bytes = fstat(front->message, &found) < 0 || found.st_size == 0
			      ? MAP_FAILED
			      : mmap(NULL, found.st_size, PROT_READ, MAP_PRIVATE, front->message, 0);

	return bytes != MAP_FAILED && found.st_size <= MOST_MESSAGE &&
	       tell_host(front->connection, TO_HOST_MESSAGE, bytes, found.st_size);
}

static bool ask(struct front *front, int argc, char **argv)
{
	struct request request;

	return make_request(&request, argc, argv) &&
	       (front->connection = connect_to_host(&front->host, FOR_REQUEST, SOCK_STREAM)) >= 0 &&
	       tell_host(front->connection, TO_HOST_REQUEST, request.bytes, request.length) &&
	       /* The first steps of a cell need no plan. */
	       (front->message >= 0 ? send_message(front) : start(front, false));
}

static void tell(const struct front *front, char kind, int signal)
{
	unsigned char payload[] = { (unsigned char)signal, is_in_foreground() };

	tell_host(front->connection, kind, payload, sizeof payload);
}

/* All of the job, because a shell waits until all of its processes stop. Returns when it continues. */
static void stop_job(const struct front *front, int signal)
{
	sigset_t stops;

	if (signal != SIGTTIN || !is_in_foreground()) {
		sigemptyset(&stops);
		sigaddset(&stops, SIGTSTP);
		sigprocmask(SIG_UNBLOCK, &stops, NULL);
		kill(0, signal == SIGTTIN ? SIGTTIN : SIGTSTP);
		sigprocmask(SIG_BLOCK, &stops, NULL);
	}
	tell(front, TO_HOST_CONTINUED, 0);
}

/* The exit status of a signal that came before the command began, or NOT_SERVED. */
static int pass_signals(struct front *front)
{
	struct signalfd_siginfo info;

	while (read(front->signals, &info, sizeof info) == sizeof info) {
		int signal = (int)info.ssi_signo;

		if (front->begun)
			tell(front, TO_HOST_SIGNAL, signal);
		else if (signal == SIGTSTP)
			stop_job(front, signal);
		else if (signal != SIGCONT && signal != SIGWINCH)
			return 128 + signal;
	}
	return NOT_SERVED;
}

static int lose_host(struct front *front)
{
	end_launcher(&front->launcher);
	if (!front->begun)
		return NOT_SERVED;
	if (front->message >= 0) {
		fputs("cordon: the local host ended while it answered, so this call does not run\n", stderr);
		return EXIT_BLOCKED;
	}
	fputs("cordon: the local host ended, and with it the command\n"
	      "fix: run it again, if it may run twice; without a host: CORDON_HOST=off\n",
	      stderr);
	return EXIT_ENDED;
}

/* Carries out what the host says. True once `status` is known. */
static bool obey(struct front *front, int *status)
{
	struct frame frame;

	if (!read_frame_in_time(front->connection, &frame)) {
		*status = lose_host(front);
		return true;
	}
	FREE_ON_RETURN char *payload = frame.payload;
	int first = frame.length > 0 ? (unsigned char)payload[0] : 0;
	switch ((int)frame.kind) {
	case FROM_HOST_LAUNCH:
		/* Also after it said that the command begins: then that cell was given up before. */
		if (start(front, frame.length > 0))
			return false;
		*status = lose_host(front);
		return true;
	case FROM_HOST_BEGIN: front->begun = true; return false;
	case FROM_HOST_TEXT:
		front->begun = front->begun || front->message >= 0;
		if ((first != 1 && first != 2) || write_fully(first, payload + 1, frame.length - 1) ||
		    front->message < 0)
			return false;
		/* An answer that cannot be written is no answer. */
		*status = EXIT_BLOCKED;
		return true;
	case FROM_HOST_STOP: stop_job(front, first); return false;
	case FROM_HOST_EXIT: *status = first; return true;
	case FROM_HOST_NOT_SERVED:
	default: *status = lose_host(front); return true;
	}
}

/* The host says that a command begins before its launcher gets it. So a dead launcher of which it has not said so ran
 * nothing. */
static int lose_patience(struct front *front)
{
	struct pollfd more = { .fd = front->connection, .events = POLLIN };
	struct frame frame;

	end_launcher(&front->launcher);
	while (!front->begun && poll(&more, 1, 0) > 0 && read_frame_in_time(front->connection, &frame)) {
		front->begun = (int)frame.kind == FROM_HOST_BEGIN;
		free(frame.payload);
	}
	return lose_host(front);
}

static int serve_command(struct front *front)
{
	uint64_t until = milliseconds() + PATIENCE;
	int status = NOT_SERVED;

	for (;;) {
		struct pollfd polled[] = { { .fd = front->connection, .events = POLLIN },
					   { .fd = front->signals, .events = POLLIN } };
		uint64_t now = milliseconds();
		int wait = front->begun ? -1 : now < until ? (int)(until - now) : 0;
		int found = poll(polled, COUNT_OF(polled), wait);

		if (found < 0 && errno != EINTR)
			return lose_host(front);
		if (found == 0 && !front->begun)
			return lose_patience(front);
		if (polled[1].revents && (status = pass_signals(front)) != NOT_SERVED) {
			end_launcher(&front->launcher);
			return status;
		}
		if (polled[0].revents && obey(front, &status))
			return status;
	}
}

int ask_host(const char *build, int message, int argc, char **argv)
{
	struct front front = {
		.host = { build, NO_PEER }, .connection = -1, .signals = -1, .message = message, .launcher = -1
	};
	int status = NOT_SERVED;
	/* A warning may have no reader any more. The launcher is waited for, also where children are ignored. */
	void (*of_pipes)(int) = signal(SIGPIPE, SIG_IGN), (*of_children)(int) = signal(SIGCHLD, SIG_DFL);

	block_passed_on(&front);
	if (front.signals >= 0 && ask(&front, argc, argv))
		status = serve_command(&front);
	if (status == NOT_SERVED)
		end_launcher(&front.launcher);
	close_descriptor(&front.connection);
	close_descriptor(&front.signals);
	close_descriptor(&front.host.peer.process);
	sigprocmask(SIG_SETMASK, &front.before, NULL);
	signal(SIGPIPE, of_pipes);
	signal(SIGCHLD, of_children);
	return status;
}
