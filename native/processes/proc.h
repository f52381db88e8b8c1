/* Small files of /proc. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Our number as /proc counts: where that is an outer namespace's, it is not getpid(). */
pid_t own_pid_in_proc(void);
/* Reads a small /proc file; returns its length, or 0 when the process is gone. */
size_t read_proc(char *into, size_t room, const char *path);
/* The same of a `stat`: what follows the command name, from its closing parenthesis on; or NULL. */
const char *read_stat(char *into, size_t room, const char *path);
uint64_t field_in_kilobytes(const char *text, const char *name);
