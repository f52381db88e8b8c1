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

bool read_installed(struct installed *installed)
{
	char path[PATH_MAX + sizeof ENDING];
	char *text = allocate(4 * PATH_MAX, 1);
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);

	if (length <= 0)
		return false;
	memcpy(path + length, ENDING, sizeof ENDING);
	CLOSE_ON_RETURN int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, 4 * PATH_MAX - 1) <= 0)
		return false;
	installed->build = next_line(&text);
	installed->node = next_line(&text);
	installed->script = next_line(&text);
	installed->answers = next_line(&text);
	return installed->answers && absolute(installed->node) && absolute(installed->script) &&
	       !strchr(installed->build, '/');
}
