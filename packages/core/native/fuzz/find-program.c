/*
 * Fuzz target: the program that the first process of a container finds.
 * needs: relay/find-program.c
 *
 * The input is a name, a NUL, and folders. Beyond memory errors: what is found is the path of a program, in a folder
 * that was named.
 */
#include "relay/find-program.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = exact_copy(data, size, 1), found[PATH_MAX];

	name[size] = '\0';
	size_t length = strlen(name);
	const char *path = length < size ? name + length + 1 : "";
	find_program(name, path, found);
	if (found[0]) {
		HOLDS(found[0] == '/' && access(found, X_OK) == 0);
		const char *last = found + strlen(found) - length;
		HOLDS(last >= found && strcmp(last, name) == 0);
		if (name[0] != '/') {
			*strrchr(found, '/') = '\0';
			HOLDS(strstr(path, found));
		}
	}
	free(name);
	return 0;
}
