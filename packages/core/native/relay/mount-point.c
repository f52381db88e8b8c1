/* Reads the place of a mount from a line of /proc/self/mountinfo, see proc_pid_mountinfo(5). */
#include "relay/mount-point.h"

#define FIELDS_BEFORE_POINT 4

static bool is_escape(const char *text)
{
	return text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' && text[2] <= '7' &&
	       text[3] >= '0' && text[3] <= '7';
}

/* A space, a tab, a line break and a backslash are three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (char *from = text; *from; to++) {
		if (!is_escape(from)) {
			*to = *from++;
			continue;
		}
		*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
		from += 4;
	}
	*to = '\0';
}

char *mount_point_in(char *line)
{
	char *rest, *field = strtok_r(line, " ", &rest);

	for (int i = 0; field && i < FIELDS_BEFORE_POINT; i++)
		field = strtok_r(NULL, " ", &rest);
	if (field)
		unescape(field);
	return field;
}
