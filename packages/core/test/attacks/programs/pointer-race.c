/*
 * A second thread rewrites the path argument while the call is on its way: what
 * a supervisor read from memory is not what the kernel uses, or the reverse.
 *
 *   pointer-race paths GRANTED UNGRANTED ROUNDS     files; the paths differ in one byte
 *   pointer-race socket GRANTED UNGRANTED ROUNDS    the ungranted one is listened on by the host
 *   pointer-race exec GRANTED UNGRANTED ROUNDS      programs; the ungranted one exits with 42
 */
#include "route.h"
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

static const char *granted, *ungranted;
static long rounds;
static size_t difference;
static char *shared;

static void *flip(void *unused)
{
	volatile char *byte = shared + difference;
	for (;;) {
		*byte = ungranted[difference];
		*byte = granted[difference];
	}
	return unused;
}

static void begin(char *memory)
{
	pthread_t thread;
	shared = memory;
	if (pthread_create(&thread, NULL, flip, NULL) != 0) unable("thread");
}

static int read_file(void)
{
	begin(strdup(granted));
	for (long i = 0; i < rounds; i++) {
		char text[64] = "";
		int fd = open(shared, O_RDONLY);
		if (fd < 0) continue;
		if (read(fd, text, sizeof text - 1) > 0 && strncmp(text, "SECRET", 6) == 0) return note("%s", text), 0;
		close(fd);
	}
	return NOTHING;
}

static int write_file(void)
{
	begin(strdup(granted));
	for (long i = 0; i < rounds; i++) {
		char target[PATH_MAX] = "";
		int fd = open(shared, O_WRONLY | O_APPEND);
		if (fd < 0) continue;
		if (readlink(path_of("/proc/self/fd/%d", fd), target, sizeof target - 1) > 0 && strcmp(target, ungranted) == 0)
			return put_into(fd);
		close(fd);
	}
	return NOTHING;
}

/* Seen from where nothing stops it; it ends the race, looked for once in a while. */
static bool mode_changed(void)
{
	struct stat facts;
	return stat(ungranted, &facts) == 0 && (facts.st_mode & 07777) == 0606;
}

static bool times_changed(void)
{
	struct stat facts;
	return stat(ungranted, &facts) == 0 && facts.st_mtime == 86400;
}

static bool attributes_changed(void)
{
	char value[8];
	return getxattr(ungranted, "user.raced", value, sizeof value) > 0;
}

static int change_mode(void)
{
	begin(strdup(granted));
	for (long i = 0; i < rounds; i++) {
		chmod(shared, 0606);
		if (i % 1000 == 999 && mode_changed()) return 0;
	}
	return mode_changed() ? 0 : NOTHING;
}

static int change_attributes(void)
{
	begin(strdup(granted));
	for (long i = 0; i < rounds; i++) {
		setxattr(shared, "user.raced", "x", 1, 0);
		if (i % 1000 == 999 && attributes_changed()) return 0;
	}
	return attributes_changed() ? 0 : NOTHING;
}

static int change_times(void)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 86400 }, { .tv_sec = 86400 } };
	begin(strdup(granted));
	for (long i = 0; i < rounds; i++) {
		utimensat(AT_FDCWD, shared, long_ago, 0);
		if (i % 1000 == 999 && times_changed()) return 0;
	}
	return times_changed() ? 0 : NOTHING;
}

/* The host's listener greets with SECRET. */
static int connect_socket(void)
{
	struct sockaddr_un *address = calloc(1, sizeof *address);
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (strlen(granted) >= sizeof own.sun_path) return ENAMETOOLONG;
	strcpy(own.sun_path, granted);
	bind(listener, (struct sockaddr *)&own, sizeof own);
	listen(listener, 4000);
	*address = own;
	begin(address->sun_path);
	for (long i = 0; i < rounds; i++) {
		struct timeval patience = { .tv_usec = 2000 };
		char text[64] = "";
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		TRY(fd);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
		if (connect(fd, (struct sockaddr *)address, sizeof *address) == 0) {
			struct sockaddr_un peer = {0};
			socklen_t length = sizeof peer;
			getpeername(fd, (struct sockaddr *)&peer, &length);
			if (strcmp(peer.sun_path, ungranted) == 0) return recv(fd, text, sizeof text - 1, 0), note("%s", text), 0;
		}
		close(fd);
		int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (accepted >= 0) close(accepted);
	}
	return NOTHING;
}

static int execute(void)
{
	begin(strdup(granted));
	for (long i = 0; i < rounds; i++) {
		int status = 0;
		/* vfork shares memory, so the other thread keeps flipping under the child. */
		pid_t child = vfork();
		if (child == 0) {
			char *const argv[] = { "program", NULL };
			execve(shared, argv, NULL);
			_exit(99);
		}
		if (child < 0) return errno;
		waitpid(child, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 42) return 0;
	}
	return NOTHING;
}

int main(int count, char **words)
{
	if (count != 5) return 64;
	granted = words[2];
	ungranted = words[3];
	rounds = strtol(words[4], NULL, 10);
	while (granted[difference] && granted[difference] == ungranted[difference]) difference++;
	if (strlen(granted) != strlen(ungranted) || strcmp(granted + difference + 1, ungranted + difference + 1) != 0) return 64;
	if (strcmp(words[1], "paths") == 0) {
		route("open-read", read_file);
		route("open-write", write_file);
		route("chmod", change_mode);
		route("setxattr", change_attributes);
		route("utimensat", change_times);
	} else if (strcmp(words[1], "socket") == 0) {
		route("connect", connect_socket);
	} else {
		route("execve", execute);
	}
	return 0;
}
