/*
 * The mounts of the container, told to the host one by one, with the object that is found at each. An engine follows
 * symbolic links, so the host compares them with those it asked for. They are looked at from inside: it does not matter
 * whether the host may look into the processes of the engine.
 */
#include "relay/mounts.h"
#include "relay/carried.h"
#include "relay/mount-point.h"
#include "wire/open-how.h"

#include <sys/statvfs.h>

/* What a path leads to is what lies on top there. Without numbers if our user does not get there. */
static void tell_mount(const char *point)
{
	CLOSE_ON_RETURN int object = open_how(AT_FDCWD, point, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
	struct stat status = { 0 };
	struct statvfs mount = { 0 };
	char words[PATH_MAX + 64];

	if (object >= 0 && (fstat(object, &status) < 0 || fstatvfs(object, &mount) < 0))
		status = (struct stat){ 0 };
	int length =
		snprintf(words, sizeof words, "%c%llu%c%llu%c%s%c", mount.f_flag & ST_RDONLY ? 'r' : 'w',
			 (unsigned long long)status.st_dev, '\0', (unsigned long long)status.st_ino, '\0', point, '\0');
	write_relay_frame(RELAY_MOUNT, 0, words, (size_t)length < sizeof words ? (size_t)length : sizeof words);
}

void tell_mounts(void)
{
	FREE_ON_RETURN char *line = NULL;
	size_t room = 0;
	FILE *list = fopen("/proc/self/mountinfo", "re");

	if (!list)
		return;
	if (is_of_proc(fileno(list)))
		while (getline(&line, &room, list) > 0) {
			const char *point = mount_point_in(line);
			if (point)
				tell_mount(point);
		}
	fclose(list);
}
