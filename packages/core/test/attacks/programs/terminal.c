/*
 * Types into the caller's terminal. Usage: terminal
 * Run with a terminal as stdin (see terminal-host.c), and without one.
 */
#include "route.h"
#include <dirent.h>
#include <sys/ioctl.h>

static int chosen;
static const char *path;

static int type_into(int fd)
{
	char byte = '\n';
	if (fd < 0) return errno;
	TRY(ioctl(fd, TIOCSTI, &byte));
	return 0;
}

static int by_descriptor(void) { return type_into(chosen); }
static int by_controlling_terminal(void) { return type_into(open("/dev/tty", O_RDWR | O_NOCTTY)); }

/* Other people's terminals are only opened, never typed into. */
static int by_path(void) { TRY(open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)); return 0; }

/* The kernel looks at 32 bits of the request; a filter that compares 64 lets this one by (CVE-2019-10063). */
static int by_wide_request(void)
{
	char byte = '\n';
	TRY(syscall(SYS_ioctl, chosen, (unsigned long)TIOCSTI | 1ul << 32, &byte));
	return 0;
}

static int by_reopened(void) { return type_into(open(path_of("/proc/self/fd/%d", chosen), O_RDWR)); }

/* TIOCLINUX selects and pastes; a sub-code that does not exist proves as much. */
static int by_selection(void)
{
	char code = 127;
	return ioctl(chosen, TIOCLINUX, &code) < 0 && errno != EINVAL ? errno : 0;
}

static int by_wide_selection(void)
{
	char code = 127;
	return syscall(SYS_ioctl, chosen, (unsigned long)TIOCLINUX | 1ul << 32, &code) < 0 && errno != EINVAL ? errno : 0;
}

/* Steals the terminal for a session of its own, then types. */
static int by_new_session(void)
{
	setsid();
	TRY(ioctl(chosen, TIOCSCTTY, 1));
	return type_into(chosen);
}

static int by_foreground(void)
{
	pid_t group = getpgrp();
	TRY(ioctl(chosen, TIOCSPGRP, &group));
	return type_into(chosen);
}

static int by_terminals_of_others(void)
{
	DIR *listing = opendir("/dev/pts");
	struct dirent *entry;
	int last = ENOENT;
	if (!listing) return errno;
	while ((entry = readdir(listing))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
		path = path_of("/dev/pts/%s", entry->d_name);
		struct stat own, other;
		if (stat(path, &other) == 0 && fstat(0, &own) == 0 && own.st_rdev == other.st_rdev) continue;
		last = by_path();
		if (last == 0) return note("%s", path), 0;
	}
	return last;
}

int main(void)
{
	static const char *const devices[] = { "/dev/console", "/dev/tty0", "/dev/tty1" };
	route("tiocsti-/dev/tty", by_controlling_terminal);
	for (chosen = 0; chosen < 3; chosen++) {
		route(path_of("tiocsti-%d", chosen), by_descriptor);
		route(path_of("tiocsti-wide-%d", chosen), by_wide_request);
		route(path_of("tiocsti-reopened-%d", chosen), by_reopened);
		route(path_of("tioclinux-%d", chosen), by_selection);
		route(path_of("tioclinux-wide-%d", chosen), by_wide_selection);
	}
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		path = devices[i];
		route(path_of("open-%s", path), by_path);
	}
	route("open-pts", by_terminals_of_others);
	chosen = 0;
	route("tiocspgrp", by_foreground);
	route("tiocsctty", by_new_session);
	return 0;
}
