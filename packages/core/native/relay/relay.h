#pragma once

#include "wire/launcher.h"

/* `program` is looked up in `path`, a list of folders as in PATH. */
int serve_relay(const char *program, const char *path, run_launcher *run);
