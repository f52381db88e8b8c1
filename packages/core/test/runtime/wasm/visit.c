/* A WASI program that does what its first argument says, and tells how it went. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/libc.h>

static int say(int failed)
{
	printf("%s\n", failed ? strerror(errno) : "done");
	return 0;
}

static int read_file(const char *path)
{
	char text[4096];
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof text, file) : 0;

	if (!file)
		return say(1);
	return fwrite(text, 1, length, stdout) != length;
}

static int write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	return say(!file || fputs(text, file) < 0 || fclose(file) != 0);
}

static int list(const char *path)
{
	DIR *folder = opendir(path);

	if (!folder)
		return say(1);
	for (struct dirent *entry; (entry = readdir(folder));)
		printf("%s\n", entry->d_name);
	return 0;
}

static int take_memory(void)
{
	for (;;) {
		volatile char *block = malloc(1 << 20);

		if (!block)
			return say(1);
		for (int at = 0; at < 1 << 20; at += 4096)
			block[at] = 1;
	}
}

static int echo(void)
{
	for (int c; (c = getchar()) != EOF;)
		putchar(c);
	return 0;
}

static int chatter(void)
{
	for (int i = 0; i < 3 << 20; i++)
		putchar('x');
	return 0;
}

static int flood(void)
{
	for (;;)
		if (printf("%01023d\n", 0) < 0)
			return 1;
}

/* What is printed from here on goes to a file. */
static int move_output(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || __wasilibc_fd_renumber(fileno(file), 1) < 0)
		return say(1);
	return puts("into the file") < 0 || fflush(stdout) != 0;
}

int main(int count, char **words)
{
	const char *deed = count > 1 ? words[1] : "echo";

	if (strcmp(deed, "read") == 0)
		return read_file(words[2]);
	if (strcmp(deed, "write") == 0)
		return write_file(words[2], words[3]);
	if (strcmp(deed, "list") == 0)
		return list(words[2]);
	if (strcmp(deed, "link") == 0)
		return symlink(words[2], words[3]) < 0 ? say(1) : read_file(words[3]);
	if (strcmp(deed, "variable") == 0)
		return puts(getenv(words[2]) ? getenv(words[2]) : "not set") < 0;
	if (strcmp(deed, "memory") == 0)
		return take_memory();
	if (strcmp(deed, "chatter") == 0)
		return chatter();
	if (strcmp(deed, "flood") == 0)
		return flood();
	if (strcmp(deed, "move") == 0)
		return move_output(words[2]);
	if (strcmp(deed, "words") == 0) {
		printf("first words\n");
		fflush(stdout);
		fprintf(stderr, "last words\n");
		deed = words[2];
	}
	if (strcmp(deed, "spin") == 0)
		for (volatile unsigned i = 0;; i++)
			;
	if (strcmp(deed, "trap") == 0)
		__builtin_trap();
	if (strcmp(deed, "fail") == 0)
		return 3;
	if (strcmp(deed, "exit") == 0) {
		fprintf(stderr, "it went wrong\n");
		return atoi(words[2]);
	}
	return echo();
}
