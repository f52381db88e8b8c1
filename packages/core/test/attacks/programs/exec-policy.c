/*
 * Runs a program that the exec policy does not name.
 * Usage: exec-policy FORBIDDEN SCRATCH LOADER
 * FORBIDDEN is a readable program that ends with 0 at once, LOADER the dynamic
 * loader it needs (or "-"), SCRATCH a folder the tool may write.
 */
#include "route.h"
#include <spawn.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

extern char **environ;
static const char *forbidden, *scratch, *loader;
static int own_id;

/* The program ran when nothing came through the close-on-exec pipe and it ended with 0. */
static int ran(attempt *start)
{
	int channel[2], error = 0, status = 0;
	TRY(pipe2(channel, O_CLOEXEC));
	pid_t child = fork();
	TRY(child);
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);
		if (null >= 0) dup2(null, 2);
		error = start();
		_exit(write(channel[1], &error, sizeof error) == sizeof error ? 1 : 2);
	}
	close(channel[1]);
	ssize_t got = read(channel[0], &error, sizeof error);
	waitpid(child, &status, 0);
	if (got == (ssize_t)sizeof error) return error;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
	note("status %x", (unsigned)status);
	return NOTHING;
}

static int execute(const char *path)
{
	char *const argv[] = { "true", NULL };
	execve(path, argv, environ);
	return errno;
}

static int copied_into(int to)
{
	struct stat facts;
	int from = open(forbidden, O_RDONLY);
	TRY(to);
	TRY(from);
	TRY(fstat(from, &facts));
	TRY(sendfile(to, from, NULL, (size_t)facts.st_size));
	return 0;
}

static int plain(void) { return execute(forbidden); }
static int by_own_root(void) { return execute(path_of("/proc/self/root%s", forbidden)); }
static int by_dot_dot(void) { return execute(path_of("%s/../%s/%s", folder_of(forbidden), name_of(folder_of(forbidden)), name_of(forbidden))); }

static int by_execveat(void)
{
	char *const argv[] = { "true", NULL };
	int fd = open(forbidden, O_PATH);
	TRY(fd);
	syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	return errno;
}

static int by_readable_handle(void)
{
	char *const argv[] = { "true", NULL };
	int fd = open(forbidden, O_RDONLY);
	TRY(fd);
	fexecve(fd, argv, environ);
	return errno;
}

static int by_proc_fd(void)
{
	int fd = open(forbidden, O_RDONLY);
	TRY(fd);
	return execute(path_of("/proc/self/fd/%d", fd));
}

static int memory_copy(void)
{
	int fd = (int)syscall(SYS_memfd_create, "copy", 0), error = copied_into(fd);
	if (error) errno = error;
	return error ? -1 : fd;
}

static int by_memory_file(void)
{
	char *const argv[] = { "true", NULL };
	int fd = memory_copy();
	TRY(fd);
	syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	return errno;
}

static int by_memory_file_path(void)
{
	int fd = memory_copy();
	TRY(fd);
	return execute(path_of("/proc/self/fd/%d", fd));
}

/* MFD_EXEC asks for what vm.memfd_noexec would take away. */
static int by_executable_memory_file(void)
{
	char *const argv[] = { "true", NULL };
	int fd = (int)syscall(SYS_memfd_create, "copy", 0x10);
	int error = copied_into(fd);
	if (error) return error;
	syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	return errno;
}

/* Under a name that main() removes: a program that runs cannot clean up after itself. */
static char *copy_in(const char *folder) { return path_of("%s/exec-policy-%d", folder, own_id); }

static int by_copy_to(const char *copy)
{
	int fd = open(copy, O_CREAT | O_EXCL | O_WRONLY, 0755), error = copied_into(fd);
	close(fd);
	return error ? error : execute(copy);
}

static int by_copy(void) { return by_copy_to(path_of("%s/copy", scratch)); }
static int by_copy_in_tmp(void) { return by_copy_to(copy_in("/tmp")); }
static int by_copy_in_shm(void) { return by_copy_to(copy_in("/dev/shm")); }

static int by_symlink(void)
{
	char *link = path_of("%s/link", scratch);
	TRY(symlink(forbidden, link));
	return execute(link);
}

static int by_hard_link(void)
{
	char *alias = path_of("%s/hard", scratch);
	TRY(link(forbidden, alias));
	return execute(alias);
}

static int by_script_of(const char *name, const char *first_line)
{
	char *script = path_of("%s/%s", scratch, name);
	int fd = open(script, O_CREAT | O_WRONLY, 0755);
	TRY(fd);
	TRY(dprintf(fd, "%s\nexit 0\n", first_line));
	close(fd);
	return execute(script);
}

static int by_script(void) { return by_script_of("script", path_of("#!%s", forbidden)); }
static int by_shell_script(void) { return by_script_of("shell-script", "#!/bin/sh"); }

static int by_shell(void)
{
	char *const argv[] = { "sh", "-c", "exit 0", NULL };
	execve("/bin/sh", argv, environ);
	return errno;
}

static int by_posix_spawn(void)
{
	char *const argv[] = { "true", NULL };
	pid_t child;
	int status = 0, error = posix_spawn(&child, forbidden, NULL, NULL, argv, environ);
	if (error) return error;
	waitpid(child, &status, 0);
	_exit(WEXITSTATUS(status));
}

static int by_loader(void)
{
	char *const argv[] = { (char *)loader, (char *)forbidden, NULL };
	execve(loader, argv, environ);
	return errno;
}

/* The loader opens the copy for reading only: no execute right is asked for. */
static int by_loader_and_memory_file(void)
{
	int fd = memory_copy();
	TRY(fd);
	char *const argv[] = { (char *)loader, path_of("/proc/self/fd/%d", fd), NULL };
	execve(loader, argv, environ);
	return errno;
}

static attempt *starting;
static int run_it(void) { return ran(starting); }

int main(int count, char **words)
{
	static const struct { const char *name; attempt *start; } routes[] = {
		{ "execve", plain }, { "proc-self-root", by_own_root }, { "dot-dot", by_dot_dot }, { "execveat", by_execveat },
		{ "fexecve", by_readable_handle }, { "proc-self-fd", by_proc_fd }, { "memfd-execveat", by_memory_file },
		{ "memfd-proc-self-fd", by_memory_file_path }, { "memfd-mfd-exec", by_executable_memory_file }, { "copy", by_copy },
		{ "copy-tmp", by_copy_in_tmp }, { "copy-dev-shm", by_copy_in_shm }, { "symlink", by_symlink }, { "hard-link", by_hard_link },
		{ "script", by_script }, { "shell-script", by_shell_script }, { "shell", by_shell }, { "posix-spawn", by_posix_spawn },
		{ "loader", by_loader }, { "loader-memfd", by_loader_and_memory_file },
	};
	if (count != 4) return 64;
	forbidden = words[1];
	scratch = words[2];
	loader = words[3];
	own_id = getpid();
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
		if (strcmp(loader, "-") == 0 && strncmp(routes[i].name, "loader", 6) == 0) continue;
		starting = routes[i].start;
		route(routes[i].name, run_it);
	}
	unlink(copy_in("/tmp"));
	unlink(copy_in("/dev/shm"));
	return 0;
}
