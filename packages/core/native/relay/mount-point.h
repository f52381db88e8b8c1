#pragma once

#include "wire/system.h"

/* The place of a mount in a line of mountinfo, which is changed. NULL if the line has none. */
char *mount_point_in(char *line);
