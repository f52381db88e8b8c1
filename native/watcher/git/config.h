/* The configuration of a repository that a tool made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether git runs nothing because of this configuration of a repository. `work_tree`: what core.worktree may say, or
 * NULL. */
bool config_is_harmless(char *text, size_t length,
			const char *work_tree); /* changes the text; it has room for a NUL behind `length` */
bool config_file_is_harmless(int file, const char *work_tree);
