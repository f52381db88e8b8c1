/* Four lines beside the program: the build, Node, the script, and the folder of texts. */
#include "front/installed.h"
#include "wire/memory.h"
#include "wire/words.h"

#define ENDING ".front"

static char *next_line(char **at)
{
	char *line = *at, *end = line ? strchr(line, '\n') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return line;
}

/* The script of the package in which a program lies, if one is there: BIN/../bin/cordon.js. */
static char *script_beside(const char *program)
{
	FREE_ON_RETURN char *folder = copy_text(program);
	struct text script;

	for (int names = 0; names < 2; names++) {
		char *slash = strrchr(folder, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	begin_text(&script);
	fprintf(script.into, "%s/bin/cordon.js", folder);
	end_text(&script);
	return access(script.bytes, R_OK) == 0 ? script.bytes : NULL;
}

bool read_installed(struct installed *installed)
{
	char path[PATH_MAX + sizeof ENDING];
	char *text = allocate(4 * PATH_MAX, 1);
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);

	if (length <= 0)
		return false;
	path[length] = '\0';
	char *beside = script_beside(path);
	memcpy(path + length, ENDING, sizeof ENDING);
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, 4 * PATH_MAX - 1) <= 0)
		return false;
	installed->build = next_line(&text);
	installed->node = next_line(&text);
	installed->script = next_line(&text);
	installed->answers = next_line(&text);
	if (!installed->answers || !absolute(installed->node) || !absolute(installed->script) ||
	    strchr(installed->build, '/'))
		return false;
	/* Moved, copied, or taken from a cache of a package manager: another Cordon may be at the old place. */
	installed->moved = beside && strcmp(beside, installed->script) != 0;
	if (installed->moved)
		installed->script = beside;
	return true;
}
