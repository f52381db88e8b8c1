/*
 * The native `cordon`. It asks the local host, which plans, decides and records; the launcher of the cell is a child of
 * this process, so that its streams, limits, groups, priority and cgroup are the caller's by themselves. What the host
 * does not serve, and everything where there is none, goes to Node, which does the same without a host.
 */
#include "front/front.h"
#include "front/ask-host.h"
#include "front/installed.h"
#include "front/message.h"
#include "wire/frames.h"
#include "wire/memory.h"
#include "wire/report.h"

/* `cordon hook AGENT`, and not one of its actions. Nobody types a message. */
static bool is_hook(int argc, char **argv)
{
	static const char *const ACTIONS[] = { "install", "uninstall", "list", "check" };

	if (argc < 3 || strcmp(argv[1], "hook") != 0 || argv[2][0] == '-' || isatty(STDIN_FILENO))
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

/* As Node does: a file that is opened later must not be taken for a stream of the caller. */
static void open_closed_streams(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
		;
	close_descriptor(&fd);
}

int run_front(int argc, char **argv)
{
	struct installed installed;

	open_closed_streams();
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
	if (is_hook(argc, argv) && message < 0)
		return run_node(&installed, argc, argv);
	int status = ask_host(installed.build, message, argc, argv);
	if (status != NOT_SERVED)
		return status;
	/* It was read once. */
	if (message >= 0 && (lseek(message, 0, SEEK_SET) < 0 || dup2(message, STDIN_FILENO) < 0))
		return EXIT_REFUSED;
	return run_node(&installed, argc, argv);
}
