#pragma once

#include "wire/system.h"

/* Our number as /proc counts: where that is an outer namespace's, it is not getpid(). */
pid_t own_pid_in_proc(void);
/*
 * Reads a small file, whose path is a format. Returns its length, or 0 when the process is gone. (In a `stat` the
 * command name may hold anything: the last parenthesis ends it.)
 */
size_t read_proc(char *into, size_t room, const char *path, ...) __attribute__((format(printf, 3, 4)));
/* The number behind a word of the text, or 0. */
uint64_t field_of(const char *text, const char *name);
struct rusage;
uint64_t cpu_in(const struct rusage *usage); /* milliseconds */
