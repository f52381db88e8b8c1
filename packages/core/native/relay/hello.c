/*
 * What only a process inside the container can know, told to the host before the plan is made: its user, its kernel,
 * the program by its path, and what lies in the root of the image. Words, each ended by a NUL.
 */
#include "relay/hello.h"
#include "relay/carried.h"
#include "relay/find-program.h"
#include "wire/frames.h"
#include "wire/memory.h"
#include "wire/open-how.h"

#define RELAY_VERSION "cordon-relay-2"
#define BOOT_ID_ROOM 64

/* Folders and files in the root. Links lead to others of them, and grant nothing by themselves. */
static void list_root(FILE *into)
{
	CLOSE_FOLDER_ON_RETURN DIR *root = open_entries(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	for (struct dirent *entry; (entry = next_entry(root));) {
		struct stat status;
		if (fstatat(dirfd(root), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)))
			fprintf(into, "%c/%s%c", S_ISDIR(status.st_mode) ? 'd' : 'f', entry->d_name, '\0');
	}
}

/* Device and inode numbers mean the same to the host if this is the same boot of the same kernel. */
static void read_boot_id(char id[BOOT_ID_ROOM])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !is_of_proc(fileno(file)) || !fgets(id, BOOT_ID_ROOM, file))
		id[0] = '\0';
	id[strcspn(id, "\n")] = '\0';
	if (file)
		fclose(file);
}

void say_hello(const char *program, const char *path)
{
	char found[PATH_MAX], boot[BOOT_ID_ROOM];
	struct text text;

	find_program(program, path, found);
	read_boot_id(boot);
	begin_text(&text);
	fprintf(text.into, RELAY_VERSION "%c%d%c%d%c%s%c%s%c", '\0', (int)getuid(), '\0', (int)getgid(), '\0', boot,
		'\0', found, '\0');
	list_root(text.into);
	end_text(&text);
	/* An image with so many names in its root is refused by the host, which then misses some. */
	write_relay_frame(RELAY_HELLO, 0, text.bytes, text.length < LARGEST_PIECE ? text.length : LARGEST_PIECE);
	free(text.bytes);
}
