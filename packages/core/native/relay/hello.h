#pragma once

#include "wire/system.h"

void say_hello(const char *program, const char *path);
