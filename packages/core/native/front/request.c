/* The request of a client: texts that each end with a NUL (src/host/front-request.ts reads them). */
#include "front/request.h"
#include "wire/memory.h"

extern char **environ;

/* A host that nobody can fill. */
#define MOST_BYTES (8u << 20)

static bool is_terminal_of_ours(int *terminal)
{
	*terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	return *terminal >= 0;
}

bool is_in_foreground(void)
{
	CLOSE_ON_RETURN int terminal = -1;

	return !is_terminal_of_ours(&terminal) || tcgetpgrp(terminal) == getpgrp();
}

/* In a pipeline another program may need the keys. */
static bool is_pipe(int fd)
{
	struct stat found;

	return fstat(fd, &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode));
}

/* A letter for each that is true. */
static void write_streams(FILE *into)
{
	CLOSE_ON_RETURN int terminal = -1;
	bool has_terminal = is_terminal_of_ours(&terminal);

	fprintf(into, "%s%s%s%s%s%s", isatty(0) ? "i" : "", isatty(1) ? "o" : "", isatty(2) ? "e" : "",
		is_pipe(1) ? "p" : "", is_in_foreground() ? "f" : "", has_terminal ? "t" : "");
	fputc('\0', into);
}

static void write_text(FILE *into, const char *text)
{
	fwrite(text, 1, strlen(text) + 1, into);
}

static void write_list(FILE *into, char **texts)
{
	size_t count = 0;

	while (texts[count])
		count++;
	fprintf(into, "%zu%c", count, '\0');
	for (size_t i = 0; i < count; i++)
		write_text(into, texts[i]);
}

bool make_request(struct request *request, int argc, char **argv)
{
	struct text text;
	char folder[PATH_MAX];

	if (argc < 1 || !getcwd(folder, sizeof folder) || folder[0] != '/')
		return false;
	begin_text(&text);
	write_text(text.into, folder);
	write_streams(text.into);
	write_list(text.into, argv);
	write_list(text.into, environ);
	end_text(&text);
	request->bytes = text.bytes;
	request->length = text.length;
	return text.length <= MOST_BYTES;
}
