/* What the host gets to know: events as JSON lines in frames. */
#include "wire/report.h"
#include "wire/frames.h"

#include <stdarg.h>

/* The one global: die() must reach the host from any depth of the setup. */
static int report_fd = -1;
static bool reports_last = true; /* whether nobody else will speak to the host after us */
static void (*last_act)(void *context);
static void *last_context;

void report_to(int host)
{
	report_fd = host;
}

void report_from_inside(void)
{
	reports_last = false;
}

void before_dying(void (*act)(void *context), void *context)
{
	last_act = act;
	last_context = context;
}

void report_event(const char *format, ...)
{
	char line[16384];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (length < 0 || report_fd < 0)
		return;
	if ((size_t)length >= sizeof line)
		length = sizeof line - 1;
	write_frame(report_fd, FRAME_EVENT, line, length);
}

size_t json_escape(char *to, size_t room, const char *text)
{
	size_t at = 0;

	for (const unsigned char *c = (const unsigned char *)text; *c && at + 7 < room; c++) {
		/* Bytes beyond ASCII may be no UTF-8 at all; the host decodes \u00XX as bytes. */
		if (*c < 0x20 || *c >= 0x7f)
			at += snprintf(to + at, room - at, "\\u%04x", *c);
		else if (*c == '"' || *c == '\\')
			at += snprintf(to + at, room - at, "\\%c", *c);
		else
			to[at++] = *c;
	}
	to[at] = '\0';
	return at;
}

_Noreturn void die(const char *stage, const char *detail)
{
	int error = errno;
	char escaped[8192];

	/* The host may take its time to hear of it. */
	if (last_act)
		last_act(last_context);
	json_escape(escaped, sizeof escaped, detail ? detail : "");
	report_event("{\"event\":\"error\",\"stage\":\"%s\",\"errno\":%d,\"error\":\"%s\",\"detail\":\"%s\"}", stage,
		     error, strerror(error), escaped);
	if (reports_last && report_fd >= 0)
		linger(report_fd);
	_exit(EXIT_REFUSED);
}

/*
 * Reads on until the host has hung up. Closing with its words unread would make
 * its next write fail, and with that our last words would be lost to it.
 */
void linger(int host)
{
	char ignored[4096];
	uint64_t end = milliseconds() + 5000;

	shutdown(host, SHUT_WR);
	while (milliseconds() < end && poll(&(struct pollfd){ .fd = host, .events = POLLIN }, 1, 2000) > 0 &&
	       read(host, ignored, sizeof ignored) > 0)
		;
}
