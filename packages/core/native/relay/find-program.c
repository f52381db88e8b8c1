/* Finds the program of a call in the image of its container. */
#include "relay/find-program.h"

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Whole paths only: one that was cut would be another program. */
static bool join(char found[PATH_MAX], const char *folder, size_t length, const char *name)
{
	return length < PATH_MAX && snprintf(found, PATH_MAX, "%.*s%s", (int)length, folder, name) < PATH_MAX;
}

void find_program(const char *name, const char *path, char found[PATH_MAX])
{
	if (name[0] == '/' && join(found, "", 0, name) && is_program(found))
		return;
	for (const char *folder = strchr(name, '/') ? "" : path; *folder;) {
		size_t length = strcspn(folder, ":");
		char joined[PATH_MAX];
		if (folder[0] == '/' && join(joined, folder, length, "/") &&
		    join(found, joined, strlen(joined), name) && is_program(found))
			return;
		folder += length + (folder[length] == ':');
	}
	found[0] = '\0';
}
