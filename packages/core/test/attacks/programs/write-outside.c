/*
 * Changes a folder that was not granted for writing.
 *
 *   write-outside --seed OUTSIDE      makes the victims (run by the host, before)
 *   write-outside OUTSIDE INSIDE      attacks; INSIDE is the tool's write root
 */
#include "route.h"
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

static const char *outside, *inside;

static char *out(const char *name) { return path_of("%s/%s", outside, name); }
static char *in(const char *name) { return path_of("%s/%s", inside, name); }

static char *made_inside(const char *name)
{
	char *path = in(name);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || write(fd, "mine\n", 5) != 5) unable(path);
	close(fd);
	return path;
}

static int overwrite(void) { return put_into(open(out("file"), O_WRONLY)); }
static int append(void) { return put_into(open(out("file"), O_WRONLY | O_APPEND)); }
static int read_write(void) { return put_into(open(out("file"), O_RDWR)); }
static int truncate_on_open(void) { TRY(open(out("to-truncate-on-open"), O_WRONLY | O_TRUNC)); return 0; }
/* O_RDONLY | O_TRUNC truncates as well; filters that look at the access mode alone miss it. */
static int truncate_read_only(void) { TRY(open(out("to-truncate-on-open"), O_RDONLY | O_TRUNC)); return 0; }
static int truncate_by_path(void) { TRY(truncate(out("to-truncate"), 1)); return 0; }
static int create(void) { return put_into(open(out("created"), O_CREAT | O_WRONLY, 0600)); }
static int create_exclusive(void) { return put_into(open(out("created-exclusive"), O_CREAT | O_EXCL | O_RDWR, 0600)); }
static int creat_call(void) { return put_into(creat(out("created-by-creat"), 0600)); }
static int make_folder(void) { TRY(mkdir(out("made-folder"), 0700)); return 0; }
static int make_pipe(void) { TRY(mkfifo(out("made-pipe"), 0600)); return 0; }
static int make_file_by_mknod(void) { TRY(mknod(out("made-by-mknod"), S_IFREG | 0600, 0)); return 0; }
static int make_symlink(void) { TRY(symlink("/", out("made-link"))); return 0; }
static int remove_file(void) { TRY(unlink(out("to-unlink"))); return 0; }
static int remove_folder(void) { TRY(rmdir(out("to-rmdir"))); return 0; }
static int move_out(void) { TRY(rename(made_inside("moved"), out("moved"))); return 0; }
static int move_onto(void) { TRY(rename(made_inside("moved-onto"), out("to-be-replaced"))); return 0; }
static int move_in(void) { TRY(rename(out("to-move-in"), in("moved-in"))); return 0; }
static int move_within(void) { TRY(rename(out("to-rename"), out("renamed"))); return 0; }
static int through_own_root(void) { return put_into(open(path_of("/proc/self/root%s/file", outside), O_WRONLY)); }
static int through_first_root(void) { return put_into(open(path_of("/proc/1/root%s/file", outside), O_WRONLY)); }
static int link_out(void) { TRY(link(made_inside("linked"), out("linked"))); return 0; }

static int exchange(void)
{
	TRY(renameat2(AT_FDCWD, made_inside("exchanged"), AT_FDCWD, out("to-exchange"), RENAME_EXCHANGE));
	return 0;
}

static int whiteout(void)
{
	TRY(renameat2(AT_FDCWD, out("to-whiteout"), AT_FDCWD, out("whited-out"), RENAME_WHITEOUT));
	return 0;
}

static int link_in_and_write(void)
{
	TRY(link(out("file"), in("alias")));
	return put_into(open(in("alias"), O_WRONLY));
}

static int through_symlink(void)
{
	TRY(symlink(out("file"), in("symlink")));
	return put_into(open(in("symlink"), O_WRONLY));
}

static int create_through_dangling_symlink(void)
{
	TRY(symlink(out("created-through-dangling"), in("dangling")));
	return put_into(open(in("dangling"), O_CREAT | O_WRONLY, 0600));
}

static int through_folder_symlink(void)
{
	TRY(symlink(outside, in("folder-link")));
	return put_into(open(in("folder-link/created-through-folder-link"), O_CREAT | O_WRONLY, 0600));
}

static int by_openat2(void)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 0600 };
	return put_into((int)syscall(SYS_openat2, AT_FDCWD, out("created-by-openat2"), &how, sizeof how));
}

static int by_dot_dot(void)
{
	return put_into(open(path_of("%s/../../../../../../../../../..%s/file", inside, outside), O_WRONLY));
}

static int through_own_cwd(void)
{
	TRY(chdir(outside));
	return put_into(open("/proc/self/cwd/file", O_WRONLY));
}

static int from_folder_handle(void)
{
	int folder = open(outside, O_PATH | O_DIRECTORY);
	TRY(folder);
	return put_into(openat(folder, "created-by-handle", O_CREAT | O_WRONLY, 0600));
}

static int reopen_read_handle(void)
{
	int fd = open(out("file"), O_RDONLY);
	TRY(fd);
	return put_into(open(path_of("/proc/self/fd/%d", fd), O_RDWR));
}

static int reopen_path_handle(void)
{
	int fd = open(out("file"), O_PATH);
	TRY(fd);
	return put_into(open(path_of("/proc/self/fd/%d", fd), O_WRONLY));
}

static int unnamed_file(void)
{
	int fd = open(outside, O_TMPFILE | O_RDWR, 0600);
	TRY(fd);
	TRY(linkat(AT_FDCWD, path_of("/proc/self/fd/%d", fd), AT_FDCWD, out("from-tmpfile"), AT_SYMLINK_FOLLOW));
	return 0;
}

/* Made inside, named outside. */
static int unnamed_file_linked_out(void)
{
	int fd = open(inside, O_TMPFILE | O_RDWR, 0600);
	TRY(fd);
	TRY(linkat(AT_FDCWD, path_of("/proc/self/fd/%d", fd), AT_FDCWD, out("from-tmpfile-inside"), AT_SYMLINK_FOLLOW));
	return 0;
}

static int bind_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	TRY(fd);
	if (strlen(out("s")) >= sizeof address.sun_path) return ENAMETOOLONG;
	strcpy(address.sun_path, out("s"));
	TRY(bind(fd, (struct sockaddr *)&address, sizeof address));
	return 0;
}

static int shared_mapping(void)
{
	int fd = open(out("file"), O_RDWR);
	if (fd < 0) fd = open(out("file"), O_RDONLY);
	TRY(fd);
	char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) return errno;
	bytes[0] = 'X';
	return 0;
}

/* A read-only shared mapping, made writable afterwards. */
static int mapping_made_writable(void)
{
	int fd = open(out("file"), O_RDWR);
	if (fd < 0) fd = open(out("file"), O_RDONLY);
	TRY(fd);
	char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) return errno;
	TRY(mprotect(bytes, 4096, PROT_READ | PROT_WRITE));
	bytes[0] = 'X';
	return 0;
}

/* A pipe accepts writes on a read-only mount: only the open itself can be refused. */
static int write_into_pipe(void)
{
	int fd = open(out("pipe"), O_RDWR | O_NONBLOCK);
	return put_into(fd);
}

static int seed(const char *folder)
{
	static const char *const files[] = { "file", "to-truncate-on-open", "to-truncate", "to-unlink", "to-be-replaced",
		"to-move-in", "to-rename", "to-exchange", "to-whiteout" };
	outside = folder;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int fd = open(out(files[i]), O_CREAT | O_WRONLY, 0600);
		if (fd < 0 || write(fd, "original\n", 9) != 9) unable(out(files[i]));
		close(fd);
	}
	if (mkdir(out("to-rmdir"), 0700) < 0 || mkfifo(out("pipe"), 0600) < 0) unable(folder);
	return 0;
}

int main(int count, char **words)
{
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "open-wronly", overwrite }, { "open-append", append }, { "open-rdwr", read_write },
		{ "open-trunc", truncate_on_open }, { "open-rdonly-trunc", truncate_read_only }, { "truncate", truncate_by_path },
		{ "o-creat", create }, { "o-creat-excl", create_exclusive }, { "creat", creat_call }, { "mkdir", make_folder },
		{ "mkfifo", make_pipe }, { "mknod-file", make_file_by_mknod }, { "symlink-outside", make_symlink },
		{ "rename-out", move_out }, { "rename-onto", move_onto }, { "rename-exchange", exchange },
		{ "rename-within", move_within }, { "rename-whiteout", whiteout }, { "rename-in", move_in }, { "link-out", link_out },
		{ "link-in", link_in_and_write }, { "symlink", through_symlink },
		{ "symlink-dangling", create_through_dangling_symlink }, { "symlink-folder", through_folder_symlink },
		{ "openat2", by_openat2 }, { "dot-dot", by_dot_dot }, { "proc-self-cwd", through_own_cwd },
		{ "proc-self-root", through_own_root }, { "proc-1-root", through_first_root }, { "openat-handle", from_folder_handle },
		{ "proc-self-fd-rdonly", reopen_read_handle }, { "proc-self-fd-o-path", reopen_path_handle },
		{ "o-tmpfile", unnamed_file }, { "o-tmpfile-inside", unnamed_file_linked_out }, { "unix-bind", bind_socket },
		{ "mmap-shared", shared_mapping }, { "mprotect-shared", mapping_made_writable }, { "fifo", write_into_pipe },
		{ "unlink", remove_file }, { "rmdir", remove_folder },
	};
	if (count != 3) return 64;
	if (strcmp(words[1], "--seed") == 0) return seed(words[2]);
	outside = words[1];
	inside = words[2];
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) route(routes[i].name, routes[i].try);
	return 0;
}
