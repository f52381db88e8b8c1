/*
 * The private temporary folder of a cell without a mount namespace: an ordinary folder, made before the tool begins and
 * removed after its last process ended.
 */
#include "boundary/scratch.h"
#include "wire/frames.h"
#include "wire/report.h"

/* The files that the plan puts into it. Elsewhere the landlock form cannot put any. */
static void make_files(const struct plan *plan)
{
	size_t length = strlen(plan->scratch);

	for (size_t i = 0; i < plan->step_count; i++) {
		const struct step *step = &plan->steps[i];
		if (step->kind != STEP_FILE || strncmp(step->path, plan->scratch, length) != 0 ||
		    step->path[length] != '/')
			continue;
		CLOSE_ON_RETURN int file = open(step->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0400);
		if (file < 0 || !write_fully(file, step->text, strlen(step->text)))
			die("scratch", step->path);
	}
}

void make_scratch(const struct plan *plan)
{
	if (plan->form != FORM_LANDLOCK || plan->probe)
		return;
	if (mkdir(plan->scratch, 0700) < 0)
		die("scratch", plan->scratch);
	make_files(plan);
}

#define DEEPEST_COUNTED 256
#define UNCOUNTABLE (1ull << 62)

/* Removes what is no folder. */
static bool is_left_folder(int at, const char *name)
{
	return unlinkat(at, name, 0) < 0 && errno == EISDIR;
}

/* The tool may have given a folder any mode. Changed only if it must be: inside another cell that is a violation. */
static void open_up(int at, const char *name)
{
	struct stat status;

	if (fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
	    (status.st_mode & 0700) != 0700)
		(void)!fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW);
}

/* A folder below `at` to be emptied. */
static DIR *open_to_empty(int at, const char *name)
{
	open_up(at, name);
	return open_entries(openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Moves the folders in `name` up beside it, to be emptied in their turn, and removes the rest. */
static void empty_into(int top, const char *name, unsigned *moved)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries = open_to_empty(top, name);

	for (struct dirent *entry; (entry = next_entry(entries));) {
		if (!is_left_folder(dirfd(entries), entry->d_name))
			continue;
		/* Moving a folder writes to it: its `..` becomes another. */
		open_up(dirfd(entries), entry->d_name);
		for (int attempt = 0; attempt < 1000; attempt++) {
			char free_name[32];
			snprintf(free_name, sizeof free_name, "moved-%u", (*moved)++);
			if (renameat(dirfd(entries), entry->d_name, top, free_name) == 0)
				break;
		}
	}
}

/*
 * Level by level instead of going down: a tool can nest folders deeper than we have descriptors or stack for. Nobody is
 * left to swap a name meanwhile; links are removed, never followed.
 */
static void remove_entries(const char *path)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries = open_to_empty(AT_FDCWD, path);
	unsigned moved = 0;
	bool progress = entries != NULL;

	while (progress) {
		progress = false;
		rewinddir(entries);
		for (struct dirent *entry; (entry = next_entry(entries));) {
			if (!is_left_folder(dirfd(entries), entry->d_name))
				continue;
			empty_into(dirfd(entries), entry->d_name, &moved);
			progress = unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR) == 0 || progress;
		}
	}
}

bool remove_folder(const char *path)
{
	remove_entries(path);
	return rmdir(path) == 0 || errno == ENOENT;
}

void remove_scratch(const struct plan *plan)
{
	if (plan->form != FORM_LANDLOCK || plan->probe)
		return;
	remove_folder(plan->scratch);
}

/* Stops once it is more than `enough`: a tool could fill the folder with more names than can be looked at. */
static uint64_t bytes_below(int folder, int depth, uint64_t enough)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries = open_entries(folder);
	uint64_t sum = 0;

	for (struct dirent *entry; (entry = next_entry(entries));) {
		struct stat status;
		if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum += (uint64_t)status.st_blocks * S_BLKSIZE + S_BLKSIZE; /* an empty file costs something too */
		if (sum > enough)
			break;
		if (!S_ISDIR(status.st_mode))
			continue;
		/* Deeper than anybody needs, and than we can look: counted as more than any limit. */
		int inner = depth < DEEPEST_COUNTED ? openat(dirfd(entries), entry->d_name,
							     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
						    : -1;
		if (inner >= 0)
			sum += bytes_below(inner, depth + 1, enough - sum);
		else if (depth >= DEEPEST_COUNTED || errno == EACCES) /* or closed to us, by its owner */
			sum = UNCOUNTABLE;
		if (sum > enough)
			break;
	}
	return sum;
}

uint64_t scratch_in_use(const struct plan *plan)
{
	/* A probe makes no folder of its own: what is there is somebody else's. */
	int folder = plan->probe ? -1 : open(plan->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return bytes_below(folder, 0, plan->limits.scratch ? plan->limits.scratch : UNCOUNTABLE - 1);
}
