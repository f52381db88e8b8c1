/*
 * The native `cordon`. It asks the local host, which plans, decides and records; the launcher of the cell is a child of
 * this process, so that its streams, limits, groups, priority and cgroup are the caller's by themselves.
 *
 * Until the host says that the command begins, whatever goes wrong leads to Node, which does the same without a host.
 * From there on nothing is ever run twice.
 */
#include "front/front.h"
#include "front/host-place.h"
#include "front/installed.h"
#include "front/message.h"
#include "front/peer.h"
#include "front/request.h"
#include "wire/memory.h"
#include "wire/read-frame.h"
#include "wire/report.h"

#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

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

/* For its first answer. A host that is stopped must not stop everybody. */
#define PATIENCE 5000

/* Hosts take no more at once. */
#define MOST_MESSAGE (7 << 20)

#define NOT_SERVED (-1)
#define EXIT_ENDED 125

struct front {
	const char *build;
	int host, signals, message; /* `message`: of a hook, or -1 */
	pid_t launcher;
	struct peer door; /* of the host: checked once */
	bool begun;
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

/* What listens there could have any launcher of ours started, so it must be beside us, and not in a cell. */
static bool is_host(struct front *front, int connection)
{
	struct stand own;

	if (front->door.process >= 0)
		return is_peer(&front->door, connection);
	return look_at_ourselves(&own) && find_peer_beside(&own, connection, &front->door);
}

static int connect_to_host(struct front *front, const char *purpose, int type)
{
	struct sockaddr_un address;
	struct timeval patience = { .tv_sec = PATIENCE / 1000 };
	int fd = find_host(front->build, purpose, &address) ? socket(AF_UNIX, type | SOCK_CLOEXEC, 0) : -1;

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && is_host(front, fd) &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0)
		return fd;
	close_descriptor(&fd);
	return -1;
}

/* Where a launcher has its host, and its channel. */
enum { HOST_AT = 3, CHANNEL_AT = 4, ABOVE = 5 };

static _Noreturn void become_launcher(const struct front *front, int cell, int channel)
{
	char *const words[] = { LAUNCHER_NAME, channel < 0 ? NULL : "channel", NULL }, *const none[] = { NULL };

	/* A session of its own, because this process handles the signals of the terminal; and none of our variables. */
	setsid();
	sigprocmask(SIG_SETMASK, &front->before, NULL);
	cell = fcntl(cell, F_DUPFD_CLOEXEC, ABOVE);
	if (channel >= 0)
		channel = fcntl(channel, F_DUPFD_CLOEXEC, ABOVE);
	if (dup2(cell, HOST_AT) == HOST_AT && (channel < 0 || dup2(channel, CHANNEL_AT) == CHANNEL_AT))
		execve("/proc/self/exe", words, none);
	_exit(EXIT_REFUSED);
}

static void end_launcher(struct front *front)
{
	if (front->launcher <= 0)
		return;
	kill(front->launcher, SIGKILL);
	while (waitpid(front->launcher, NULL, 0) < 0 && errno == EINTR)
		;
	front->launcher = -1;
}

/* The host knows by our number whose cell it is. */
static bool start_launcher(struct front *front, bool with_channel)
{
	CLOSE_ON_RETURN int cell = connect_to_host(front, FOR_CELL, SOCK_STREAM);
	CLOSE_ON_RETURN int channel = with_channel ? connect_to_host(front, FOR_CHANNEL, SOCK_SEQPACKET) : -1;

	end_launcher(front);
	front->launcher = cell < 0 || (with_channel && channel < 0) ? -1 : fork();
	if (front->launcher == 0)
		become_launcher(front, cell, channel);
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
	       write_frame(front->host, TO_HOST_MESSAGE, bytes, found.st_size);
}

static bool ask(struct front *front, int argc, char **argv)
{
	struct request request;

	return make_request(&request, argc, argv) &&
	       (front->host = connect_to_host(front, FOR_REQUEST, SOCK_STREAM)) >= 0 &&
	       write_frame(front->host, TO_HOST_REQUEST, request.bytes, request.length) &&
	       /* The first steps of a cell need no plan. */
	       (front->message >= 0 ? send_message(front) : start_launcher(front, false));
}

static void tell(const struct front *front, char kind, int signal)
{
	unsigned char payload[] = { (unsigned char)signal, is_in_foreground() };

	write_frame(front->host, kind, payload, sizeof payload);
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
	end_launcher(front);
	if (!front->begun)
		return NOT_SERVED;
	fputs("cordon: the local host ended, and with it the command\n"
	      "fix: run it again, if it may run twice; without a host: CORDON_HOST=off\n",
	      stderr);
	return EXIT_ENDED;
}

/* Carries out what the host says. True once `status` is known. */
static bool obey(struct front *front, int *status)
{
	struct frame frame;

	if (!read_frame(front->host, &frame)) {
		*status = lose_host(front);
		return true;
	}
	FREE_ON_RETURN char *payload = frame.payload;
	int first = frame.length > 0 ? (unsigned char)payload[0] : 0;
	switch ((int)frame.kind) {
	case FROM_HOST_LAUNCH:
		if (!front->begun && start_launcher(front, frame.length > 0))
			return false;
		*status = lose_host(front);
		return true;
	case FROM_HOST_BEGIN: front->begun = true; return false;
	case FROM_HOST_TEXT:
		if (first == 1 || first == 2)
			write_fully(first, payload + 1, frame.length - 1);
		return false;
	case FROM_HOST_STOP: stop_job(front, first); return false;
	case FROM_HOST_EXIT: *status = first; return true;
	default: *status = lose_host(front); return true;
	}
}

static int serve_command(struct front *front)
{
	uint64_t until = milliseconds() + PATIENCE;
	int status = NOT_SERVED;

	for (;;) {
		struct pollfd polled[] = { { .fd = front->host, .events = POLLIN },
					   { .fd = front->signals, .events = POLLIN } };
		uint64_t now = milliseconds();
		int wait = front->begun ? -1 : now < until ? (int)(until - now) : 0;
		int found = poll(polled, COUNT_OF(polled), wait);

		if (found < 0 && errno != EINTR)
			return lose_host(front);
		if (found == 0 && !front->begun) {
			/* Dead before we look once more: what the host began in this moment has not run. */
			end_launcher(front);
			return NOT_SERVED;
		}
		if (polled[1].revents && (status = pass_signals(front)) != NOT_SERVED) {
			end_launcher(front);
			return status;
		}
		if (polled[0].revents && obey(front, &status))
			return status;
	}
}

static int ask_host(const struct installed *installed, int message, int argc, char **argv)
{
	struct front front = { .build = installed->build,
			       .host = -1,
			       .signals = -1,
			       .message = message,
			       .launcher = -1,
			       .door = NO_PEER };
	int status = NOT_SERVED;

	block_passed_on(&front);
	if (front.signals >= 0 && ask(&front, argc, argv))
		status = serve_command(&front);
	if (status == NOT_SERVED)
		end_launcher(&front);
	close_descriptor(&front.host);
	close_descriptor(&front.signals);
	close_descriptor(&front.door.process);
	sigprocmask(SIG_SETMASK, &front.before, NULL);
	return status;
}

/* `cordon hook AGENT`, and not one of its actions. */
static bool is_hook(int argc, char **argv)
{
	static const char *const ACTIONS[] = { "install", "uninstall", "list", "check" };

	if (argc < 3 || strcmp(argv[1], "hook") != 0 || argv[2][0] == '-')
		return false;
	for (size_t i = 0; i < COUNT_OF(ACTIONS); i++)
		if (strcmp(argv[2], ACTIONS[i]) == 0)
			return false;
	return true;
}

static bool is_for_host(int argc, char **argv)
{
	const char *wanted = getenv("CORDON_HOST");

	return argc > 1 && (strcmp(argv[1], "run") == 0 || is_hook(argc, argv)) &&
	       !(wanted && strcmp(wanted, "off") == 0);
}

/* Prints the text for words that ask only for help or the version. */
static bool answer(const struct installed *installed, int argc, char **argv)
{
	char path[PATH_MAX + 64], bytes[16384];
	const char *name = argc == 3 ? argv[1] : "", *last = argc > 1 ? argv[argc - 1] : "--help";
	ssize_t got;

	if (argc > 3 || (strcmp(last, "--help") != 0 && strcmp(last, "--version") != 0) ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz") != strlen(name))
		return false;
	snprintf(path, sizeof path, "%s/%s%s", installed->answers, name, last);
	CLOSE_ON_RETURN int text = open(path, O_RDONLY | O_CLOEXEC);
	if (text < 0)
		return false;
	while ((got = read(text, bytes, sizeof bytes)) > 0)
		write_fully(1, bytes, got);
	return true;
}

static int run_node(const struct installed *installed, int argc, char **argv)
{
	char **words = allocate(argc + 3, sizeof *words);
	struct text started;

	begin_text(&started);
	fprintf(started.into, "--started-as=%s", argv[0]);
	end_text(&started);
	words[0] = installed->node;
	words[1] = installed->script;
	words[2] = started.bytes;
	for (int i = 1; i < argc; i++)
		words[2 + i] = argv[i];
	execv(installed->node, words);
	/* Another version of it may have been installed since. */
	if (errno == ENOENT)
		execvp("node", words);
	fprintf(stderr, "cordon: %s cannot be started: %s\nfix: npm rebuild cordon\n", installed->node,
		strerror(errno));
	return EXIT_REFUSED;
}

int run_front(int argc, char **argv)
{
	struct installed installed;

	if (!read_installed(&installed)) {
		fputs("cordon: this program does not know its installation (its file .front is missing)\n"
		      "fix: npm rebuild cordon\n",
		      stderr);
		return EXIT_REFUSED;
	}
	if (!installed.moved && answer(&installed, argc, argv))
		return 0;
	if (installed.moved || !is_for_host(argc, argv))
		return run_node(&installed, argc, argv);
	int message = is_hook(argc, argv) ? take_message() : -1;
	int status = ask_host(&installed, message, argc, argv);
	if (status != NOT_SERVED)
		return status;
	/* It was read once. */
	if (message >= 0 && (lseek(message, 0, SEEK_SET) < 0 || dup2(message, STDIN_FILENO) < 0))
		return EXIT_REFUSED;
	return run_node(&installed, argc, argv);
}
