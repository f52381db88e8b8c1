/* NUL-separated words, as plans, commands and requests consist of. */
#include "wire/words.h"

char *next_word(struct words *words)
{
	if (words->at >= words->end)
		return NULL;
	char *word = words->at;
	char *stop = memchr(word, '\0', words->end - word);
	if (!stop) /* a word that is not terminated was cut */
		return NULL;
	words->at = stop + 1;
	return word;
}

bool absolute(const char *path)
{
	if (!path || path[0] != '/')
		return false;
	/* The host resolves paths; a dot component here would be resolved again, elsewhere. */
	for (const char *part = path; part; part = strchr(part + 1, '/')) {
		const char *name = part + 1;
		size_t length = strcspn(name, "/");
		if ((length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.'))
			return false;
	}
	return true;
}

bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

bool parse_port(const char *text, uint16_t *port)
{
	uint64_t number;

	if (!parse_number(text, &number) || number < 1 || number > UINT16_MAX)
		return false;
	*port = (uint16_t)number;
	return true;
}
