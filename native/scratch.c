/*
 * The private temporary folder of a cell without a mount namespace: an ordinary
 * folder, made before the tool begins and removed after its last process ended.
 */
#include "cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void make_scratch(const struct plan *plan)
{
	if (plan->form == FORM_LANDLOCK && !plan->probe && mkdir(plan->scratch, 0700) < 0)
		die("scratch", plan->scratch);
}

/* Nobody is left to swap a name while we go down; links are removed, never followed. */
static void remove_entries(int folder)
{
	DIR *entries = fdopendir(folder);

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(entries), entry->d_name, 0) == 0 || errno != EISDIR)
			continue;
		int inner = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0 && errno == EACCES && fchmodat(dirfd(entries), entry->d_name, 0700, 0) == 0)
			inner = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0)
			remove_entries(inner);
		unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
	}
	if (entries)
		closedir(entries);
}

void remove_scratch(const struct plan *plan)
{
	if (plan->form != FORM_LANDLOCK || plan->probe)
		return;
	int folder = open(plan->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder >= 0)
		remove_entries(folder);
	rmdir(plan->scratch);
}

static uint64_t bytes_below(int folder, int depth)
{
	DIR *entries = fdopendir(folder);
	uint64_t sum = 0;

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		struct stat status;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum += (uint64_t)status.st_blocks * 512 + 512; /* an empty file costs something too */
		if (!S_ISDIR(status.st_mode) || depth > 64)
			continue;
		int inner = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0)
			sum += bytes_below(inner, depth + 1);
	}
	if (entries)
		closedir(entries);
	return sum;
}

uint64_t scratch_in_use(const struct plan *plan)
{
	int folder = open(plan->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return folder < 0 ? 0 : bytes_below(folder, 0);
}
