/*
 * The supervisor's half of a terminal. The tool never gets the one Cordon was started in, on which it could type
 * commands for its user (TIOCSTI, CVE-2017-5226) or read along after its end. It gets a new one, in a session of its
 * own, and the supervisor copies between the two.
 *
 * The keeper leads that session, so that the tool's process group is no orphan and ^Z stops it as usual. The host then
 * stops, too. A tool that starts in the background gets the caller's terminal once it wants it (SIGTTIN, SIGTTOU):
 * `cordon run -- git log | less` leaves the keys to less.
 */
#include "supervisor/streams/terminal.h"
#include "boundary/stdio.h"

int find_caller_terminal(const struct plan *plan)
{
	for (int i = 0; i < 3; i++) {
		if (plan->streams[i] != STREAM_TERMINAL)
			continue;
		/* An open file of our own: O_NONBLOCK on the shared one would be the shell's, too. */
		int fd = open(path_to(i).text, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
		return fd >= 0 ? fd : fcntl(i, F_DUPFD_CLOEXEC, FIRST_OF_OURS);
	}
	return -1;
}

/* The new one is a copy of the caller's: erase key, UTF-8. Once, because then the modes are the tool's to change. */
static void copy_modes(struct terminal *terminal)
{
	if (!terminal->copied)
		tcsetattr(terminal->own, TCSANOW, &terminal->modes);
	terminal->copied = true;
}

void terminal_begin(struct terminal *terminal, int own, bool foreground)
{
	terminal->own = own;
	/* Of a job in the background the modes are the shell's prompt's: those are not copied. */
	if (tcgetattr(terminal->caller, &terminal->modes) == 0 && foreground)
		copy_modes(terminal);
	terminal_resize(terminal);
}

void terminal_resize(const struct terminal *terminal)
{
	struct winsize size;

	if (terminal->own >= 0 && ioctl(terminal->caller, TIOCGWINSZ, &size) == 0)
		ioctl(terminal->own, TIOCSWINSZ, &size);
}

void terminal_take(struct terminal *terminal)
{
	/* Read again: the caller may have changed them while we were stopped. */
	if (terminal->taken || terminal->own < 0 || tcgetattr(terminal->caller, &terminal->modes) < 0)
		return;
	copy_modes(terminal);
	struct termios raw = terminal->modes;
	cfmakeraw(&raw);
	terminal->taken = tcsetattr(terminal->caller, TCSANOW, &raw) == 0;
	terminal_resize(terminal);
}

void terminal_leave(struct terminal *terminal)
{
	if (terminal->taken)
		tcsetattr(terminal->caller, TCSANOW, &terminal->modes);
	terminal->taken = false;
}

bool terminal_has_pending(const struct terminal *terminal)
{
	return terminal->at < terminal->length;
}

void terminal_flush(struct terminal *terminal)
{
	while (terminal_has_pending(terminal)) {
		ssize_t put =
			write(terminal->caller, terminal->pending + terminal->at, terminal->length - terminal->at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put < 0) /* hung up: nobody is left to show it to */
			terminal->at = terminal->length;
		else
			terminal->at += put;
	}
	terminal->at = terminal->length = 0;
}

/* At most sizeof pending, and only when nothing is pending. */
void terminal_show(struct terminal *terminal, const char *bytes, size_t length)
{
	/* While the caller's is not raw it adds a carriage return to each line itself; ours did already. */
	bool adds_return = !terminal->taken && terminal->modes.c_oflag & OPOST && terminal->modes.c_oflag & ONLCR;

	for (size_t i = 0; i < length && terminal->length < sizeof terminal->pending; i++)
		if (!(adds_return && bytes[i] == '\r' && i + 1 < length && bytes[i + 1] == '\n'))
			terminal->pending[terminal->length++] = bytes[i];
	terminal_flush(terminal);
}

/*
 * Whether these keys ask a second time for an end that the first did not bring. A
 * command that was typed to, or that reads single keys, is a shell or the like, where
 * ^C twice in a row means nothing of the kind; ^\ twice does everywhere.
 */
bool terminal_insists(struct terminal *terminal, const char *keys, size_t length)
{
	struct termios modes;

	if (tcgetattr(terminal->own, &modes) < 0 || !(modes.c_lflag & ISIG)) {
		terminal->typed = true;
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		cc_t key = keys[i];
		bool interrupts = key == modes.c_cc[VINTR], quits = key == modes.c_cc[VQUIT];

		if (terminal->asked && terminal->last_key == key &&
		    (quits || (interrupts && !terminal->typed && modes.c_lflag & ICANON)))
			return true;
		terminal->asked = interrupts || quits;
		terminal->typed = terminal->typed || !(terminal->asked || key == modes.c_cc[VSUSP]);
		terminal->last_key = key;
	}
	return false;
}
