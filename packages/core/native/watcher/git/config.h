#pragma once

#include "wire/system.h"

/* Whether git runs nothing because of this. `work_tree`: what core.worktree may say, or NULL. Changes the text, which
 * has room for a NUL behind `length`. */
bool config_is_harmless(char *text, size_t length, const char *work_tree);
bool config_file_is_harmless(int file, const char *work_tree);
