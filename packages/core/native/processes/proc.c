/* Small files of /proc. */
#include "processes/proc.h"

#include <stdarg.h>
#include <sys/resource.h>

size_t read_proc(char *into, size_t room, const char *path, ...)
{
	char full[128];
	va_list arguments;
	size_t at = 0;

	va_start(arguments, path);
	vsnprintf(full, sizeof full, path, arguments);
	va_end(arguments);
	CLOSE_ON_RETURN int fd = open(full, O_RDONLY | O_CLOEXEC);
	for (ssize_t got; fd >= 0 && at + 1 < room && (got = read(fd, into + at, room - 1 - at)) > 0;)
		at += got;
	into[at] = '\0';
	return at;
}

pid_t own_pid_in_proc(void)
{
	char text[32] = "";

	return readlink("/proc/self", text, sizeof text - 1) < 0 ? getpid() : atoi(text);
}

uint64_t field_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

uint64_t cpu_in(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000 +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}
