/*
 * Fuzz target: the frame that asks a nursery for a wall.
 * needs: supervisor/wall-request.c wire/words.c wire/memory.c wire/report.c wire/frames.c
 *
 * Beyond memory errors: what is accepted is whole, names a program by its path, and all of its words are used.
 */
#include "fuzz/fuzz.h"
#include "supervisor/wall-request.h"

static size_t count_words(const uint8_t *data, size_t size)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at++)
		count += data[at] == '\0';
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = exact_copy(data, size, 0);
	struct wall_request request;
	size_t used = 2; /* the number and the folder */

	if (!parse_wall_request(words, size, &request)) {
		HOLDS(size > 0 && data[size - 1] == '\0');
		HOLDS(request.command[0][0] == '/' && !strstr(request.command[0], "/../"));
		for (char **word = request.command; *word; word++, used++)
			HOLDS(*word > request.folder && *word < words + size);
		HOLDS(used == count_words(data, size));
	}
	free_wall_request(&request);
	free(words);
	return 0;
}
