#pragma once

#include "wire/system.h"

/* Whether a process below this one holds the socket that is bound to the file. */
bool is_own_socket(int file);
