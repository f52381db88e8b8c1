/* Lists of paths, and how paths lie to each other by their text. */
#include "watcher/territory/paths.h"
#include "wire/memory.h"

void add_path(struct paths *paths, const char *path)
{
	APPEND(paths->list, paths->count, copy_text(path));
}

void free_paths(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->list[i]);
	free(paths->list);
	*paths = (struct paths){ 0 };
}

bool lies_in(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return length == 0 || (strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

const char *behind_root(const char *root, const char *path)
{
	size_t length = strlen(root);

	return strncmp(path, root, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

bool ends_in_name(const char *path, const char *name)
{
	size_t length = strlen(path), tail = strlen(name);

	return length >= tail && strcmp(path + length - tail, name) == 0 &&
	       (length == tail || path[length - tail - 1] == '/');
}

const char *behind_git(const char *path)
{
	const char *behind = NULL;

	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		size_t length = strcspn(part, "/");
		if (length == 4 && strncmp(part, ".git", 4) == 0)
			behind = part + 4;
	}
	return behind;
}
