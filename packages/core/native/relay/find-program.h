#pragma once

#include "wire/system.h"

/* A program by its path, or by its name in the folders of `path`. Empty if there is none. */
void find_program(const char *name, const char *path, char found[PATH_MAX]);
