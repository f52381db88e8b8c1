/* Small files of /proc. */
#include "processes/proc.h"
#include "wire/scope.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t read_proc(char *into, size_t room, const char *path)
{
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;

	while (fd >= 0 && at + 1 < room) {
		ssize_t got = read(fd, into + at, room - 1 - at);
		if (got <= 0)
			break;
		at += got;
	}
	into[at] = '\0';
	return at;
}

const char *read_stat(char *into, size_t room, const char *path)
{
	/* The command name may hold anything, also parentheses: the last one ends it. */
	return read_proc(into, room, path) > 0 ? strrchr(into, ')') : NULL;
}

pid_t own_pid_in_proc(void)
{
	char text[32] = "";

	if (readlink("/proc/self", text, sizeof text - 1) < 0)
		return getpid();
	return atoi(text);
}

uint64_t field_in_kilobytes(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}
