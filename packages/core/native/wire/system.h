/* What nearly every file uses of the system, and what ends with the block that it is declared in. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define CLOSE_ON_RETURN __attribute__((cleanup(close_descriptor), unused))
#define CLOSE_FOLDER_ON_RETURN __attribute__((cleanup(close_folder)))
#define FREE_ON_RETURN __attribute__((cleanup(free_pointer), unused))

static inline void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static inline void free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

/* Takes the descriptor. NULL when that is -1. */
static inline DIR *open_entries(int fd)
{
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder)
		close_descriptor(&fd);
	return folder;
}

/* But for `.` and `..`; NULL at the end, and when there is no folder. */
static inline struct dirent *next_entry(DIR *folder)
{
	struct dirent *entry = NULL;

	while (folder && (entry = readdir(folder)) &&
	       (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
		;
	return entry;
}

/* The path by which a descriptor of ours can be opened again. */
struct descriptor_path {
	char text[32];
};

static inline struct descriptor_path path_to(int fd)
{
	struct descriptor_path path;

	snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", fd);
	return path;
}

/* Of a clock that never goes back. */
static inline uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
