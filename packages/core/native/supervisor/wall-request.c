/* What the host says of a wall (frame L): the number of inputs, a folder, a program and its arguments. */
#include "supervisor/wall-request.h"
#include "wire/memory.h"
#include "wire/words.h"

const char *parse_wall_request(char *bytes, size_t length, struct wall_request *request)
{
	struct words words = { bytes, bytes + length };
	size_t count = 0;

	*request = (struct wall_request){ 0 };
	if (!parse_number(next_word(&words), &request->inputs) || !(request->folder = next_word(&words)))
		return "expected a number of inputs and a folder";
	for (char *word; (word = next_word(&words));)
		APPEND(request->command, count, word);
	/* A last argument that was cut must not be left out. */
	if (words.at != words.end)
		return "it is cut short";
	if (count == 0 || !absolute(request->command[0]))
		return "expected a program";
	APPEND(request->command, count, NULL);
	return NULL;
}

void free_wall_request(struct wall_request *request)
{
	free(request->command);
}
