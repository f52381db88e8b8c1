/*
 * Learns that something exists, without reading it. Usage: names FILE LINK FOLDER
 * (an ungranted file, an ungranted symbolic link, and their folder).
 */
#include "route.h"
#include <dirent.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/xattr.h>

static const char *file, *link_path, *folder;

/* An answer about the object itself gives it away, whether or not it is a yes. */
static int told(long result, int telling)
{
	if (result >= 0) return 0;
	if (errno == telling) {
		note("told by %s", error_name(telling));
		return 0;
	}
	return errno;
}

static int by_stat(void) { struct stat facts; return told(stat(file, &facts), 0); }
static int by_lstat(void) { struct stat facts; return told(lstat(link_path, &facts), 0); }
static int by_statx(void) { struct statx facts; return told(statx(AT_FDCWD, file, 0, STATX_ALL, &facts), 0); }
static int by_access(void) { return told(access(file, F_OK), 0); }
static int by_faccessat2(void) { return told(syscall(439, AT_FDCWD, file, R_OK, AT_EACCESS), 0); }
static int by_handle(void) { return told(open(file, O_PATH), 0); }
static int by_chdir(void) { return told(chdir(folder), 0); }
static int by_statfs(void) { struct statfs facts; return told(statfs(file, &facts), 0); }
static int by_xattr(void) { char value[64]; return told(getxattr(file, "user.mark", value, sizeof value), ENODATA); }
static int by_xattr_list(void) { char list[256]; return told(listxattr(file, list, sizeof list), 0); }
static int by_inotify(void) { return told(inotify_add_watch(inotify_init1(0), file, IN_ALL_EVENTS), 0); }
static int by_mkdir(void) { return told(mkdir(folder, 0700), EEXIST); }
static int by_exclusive_create(void) { return told(open(file, O_CREAT | O_EXCL | O_WRONLY, 0600), EEXIST); }
static int by_path_through_file(void) { struct stat facts; return told(stat(path_of("%s/x", file), &facts), ENOTDIR); }

static int by_readlink(void)
{
	char text[PATH_MAX] = "";
	if (readlink(link_path, text, sizeof text - 1) < 0) return errno;
	note("%s", text);
	return 0;
}

static int by_listing(void)
{
	DIR *listing = opendir(folder);
	struct dirent *entry;
	if (!listing) return errno;
	while ((entry = readdir(listing))) if (strcmp(entry->d_name, name_of(file)) == 0) return 0;
	return NOTHING;
}

static int by_listing_above(void)
{
	DIR *listing = opendir(folder_of(folder));
	struct dirent *entry;
	if (!listing) return errno;
	while ((entry = readdir(listing))) if (strcmp(entry->d_name, name_of(folder)) == 0) return 0;
	return NOTHING;
}

/* ECONNREFUSED: it exists and is no socket. */
static int by_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	TRY(fd);
	if (strlen(file) >= sizeof address.sun_path) return ENAMETOOLONG;
	strcpy(address.sun_path, file);
	return told(connect(fd, (struct sockaddr *)&address, sizeof address), ECONNREFUSED);
}

static int by_name_to_handle(void)
{
	struct { struct file_handle head; char bytes[MAX_HANDLE_SZ]; } handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;
	return told(name_to_handle_at(AT_FDCWD, file, &handle.head, &mount_id, 0), 0);
}

static int by_mount_table(void)
{
	static char table[1 << 20];
	int fd = open("/proc/self/mountinfo", O_RDONLY);
	size_t length = 0;
	ssize_t got;
	TRY(fd);
	while ((got = read(fd, table + length, sizeof table - 1 - length)) > 0) length += (size_t)got;
	return strstr(table, folder) ? 0 : NOTHING;
}

int main(int count, char **words)
{
	if (count != 4) return 64;
	file = words[1];
	link_path = words[2];
	folder = words[3];
	route("stat", by_stat);
	route("lstat", by_lstat);
	route("statx", by_statx);
	route("access", by_access);
	route("faccessat2", by_faccessat2);
	route("o-path", by_handle);
	route("chdir", by_chdir);
	route("statfs", by_statfs);
	route("getxattr", by_xattr);
	route("listxattr", by_xattr_list);
	route("inotify", by_inotify);
	route("mkdir-eexist", by_mkdir);
	route("create-eexist", by_exclusive_create);
	route("enotdir", by_path_through_file);
	route("readlink", by_readlink);
	route("listing", by_listing);
	route("listing-above", by_listing_above);
	route("socket-econnrefused", by_socket);
	route("name-to-handle", by_name_to_handle);
	route("mountinfo", by_mount_table);
	return 0;
}
