/*
 * Shared by the attack programs in C.
 *
 * A route is one way to do the attack. Each runs in a child of its own, so that
 * a signal from the boundary ends the route and not the program, and each
 * prints one JSON line:
 *
 *   {"route":"openat2","outcome":"escaped"|"refused","detail":"EACCES"}
 */
#ifndef ROUTE_H
#define ROUTE_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0 when the attack worked, otherwise the errno that stopped it. */
typedef int attempt(void);

/* For a refusal that no system call reported: nothing was read, nothing moved. */
#define NOTHING 4095

#define TRY(call) do { if ((long)(call) < 0) return errno; } while (0)

struct verdict {
	int error;
	char note[160];
};

static struct verdict *verdict_of_child;

static inline void note(const char *format, ...)
{
	va_list arguments;
	if (!verdict_of_child) return;
	va_start(arguments, format);
	vsnprintf(verdict_of_child->note, sizeof verdict_of_child->note, format, arguments);
	va_end(arguments);
}

static inline const char *error_name(int error)
{
#ifdef __GLIBC__
	const char *name = strerrorname_np(error);
	if (name) return name;
#endif
	static char number[16];
	snprintf(number, sizeof number, "errno %d", error);
	return number;
}

static inline void print_escaped_json(const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte == '"' || byte == '\\') printf("\\%c", byte);
		else if (byte < 0x20 || byte > 0x7e) printf("\\u%04x", byte);
		else putchar(byte);
	}
}

static inline void report(const char *route, bool escaped, const char *detail)
{
	printf("{\"route\":\"");
	print_escaped_json(route);
	printf("\",\"outcome\":\"%s\",\"detail\":\"", escaped ? "escaped" : "refused");
	print_escaped_json(detail);
	printf("\"}\n");
	fflush(stdout);
}

/* A program that cannot even try must not look like a boundary that held. */
_Noreturn static inline void unable(const char *what)
{
	fprintf(stderr, "attack program: %s: %s\n", what, strerror(errno));
	exit(70);
}

/* Waits for a route's child; `channel` carries its verdict, or is empty when it was killed. */
static inline void conclude(const char *name, pid_t child, int channel)
{
	struct verdict verdict = {0};
	ssize_t length = read(channel, &verdict, sizeof verdict);
	int status = 0;
	close(channel);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
	if (length == (ssize_t)sizeof verdict) {
		char detail[256];
		const char *error = verdict.error == NOTHING ? "nothing happened" : verdict.error ? error_name(verdict.error) : "";
		snprintf(detail, sizeof detail, "%s%s%s", error, *error && *verdict.note ? ": " : "", verdict.note);
		report(name, verdict.error == 0, detail);
	} else if (WIFSIGNALED(status)) {
		char detail[64];
		snprintf(detail, sizeof detail, "killed by signal %d", WTERMSIG(status));
		report(name, false, detail);
	} else {
		/* unable() in the child: its reason is on stderr. */
		fprintf(stderr, "attack program: route %s ended with status %d and no verdict\n", name, WEXITSTATUS(status));
		exit(70);
	}
}

static inline void route(const char *name, attempt *try)
{
	int channel[2];
	fflush(stdout);
	if (pipe2(channel, O_CLOEXEC) < 0) unable("pipe");
	pid_t child = fork();
	if (child < 0) unable("fork");
	if (child == 0) {
		struct verdict verdict = {0};
		close(channel[0]);
		verdict_of_child = &verdict;
		alarm(20);
		verdict.error = try();
		_exit(write(channel[1], &verdict, sizeof verdict) == (ssize_t)sizeof verdict ? 0 : 71);
	}
	close(channel[1]);
	conclude(name, child, channel[0]);
}

/*
 * For calls that are harmless only because their arguments are wrong: the
 * kernel's own complaint about the arguments proves that they got there.
 */
static inline int reached(long result)
{
	if (result >= 0) return 0;
	if (errno == EPERM || errno == EACCES || errno == ENOSYS) return errno;
	note("the kernel answered %s", error_name(errno));
	return 0;
}

/* Escaped when anything at all could be read. */
static inline int take_from(int fd)
{
	char text[100];
	ssize_t length;
	if (fd < 0) return errno;
	length = read(fd, text, sizeof text - 1);
	if (length < 0) return errno;
	if (length == 0) return NOTHING;
	text[length] = 0;
	note("%s", text);
	return 0;
}

static inline int put_into(int fd)
{
	if (fd < 0) return errno;
	TRY(write(fd, "planted\n", 8));
	return 0;
}

/* A path in a buffer that stays valid until the route's child ends. */
__attribute__((format(printf, 1, 2))) static inline char *path_of(const char *format, ...)
{
	char *path = malloc(2 * PATH_MAX);
	va_list arguments;
	if (!path) abort();
	va_start(arguments, format);
	vsnprintf(path, 2 * PATH_MAX, format, arguments);
	va_end(arguments);
	return path;
}

/* dirname and basename that never change their argument. */
static inline char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static inline const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

#endif
