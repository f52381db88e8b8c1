/*
 * Hard links. A seal is on a name: a tool that can write through another name of a protected file needs no protected
 * name. So the other names of what is sealed are sealed with it, and what a call made gets a file of its own when the
 * call has ended.
 */
#include "watcher/other-names.h"
#include "wire/frames.h"
#include "wire/memory.h"
#include "wire/open-how.h"

#include <sys/random.h>

/* A call with more seals is refused. */
#define MOST_LISTED 1024
/* What is copied for one protected name, a folder with all that is in it. */
#define MOST_COPIED (64 << 20)
#define MOST_COPIES 1024

struct visit {
	struct territory *territory;
	const char *const *skipped; /* folders that are not looked into, sorted */
	size_t skipped_count;
	void (*file)(struct visit *visit, const char *path, const struct statx *status);
	void *context;
	bool passes_over_objects; /* of git */
	struct paths folders;
};

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_skipped(const struct visit *visit, const char *path)
{
	return visit->skipped_count && bsearch(&path, visit->skipped, visit->skipped_count, sizeof path, by_text);
}

/* Whether a path leads into the objects of a repository, or of a submodule in it. */
static bool is_in_git_objects(const char *path)
{
	for (const char *git = path; (git = strstr(git, ".git/")); git += 5)
		if (git == path || git[-1] == '/')
			return strncmp(git + 5, "objects/", 8) == 0 || strncmp(git + 5, "modules/", 8) == 0;
	return false;
}

/*
 * Objects of git have other names wherever a repository was cloned from a folder beside it. They are named by their
 * content, and nothing runs them: `.git/objects/ab/0123…` and `.git/objects/pack/pack-…`. So their other names are not
 * asked for. But any file can be given the name of an object: where names are looked for, objects count as well.
 */
static bool is_git_object(const char *path)
{
	const char *name = strrchr(path, '/');

	if (!name || name - path < 13 || !is_in_git_objects(path))
		return false;
	if (strncmp(name - 13, "/objects/pack/pack-", 19) == 0)
		return true;
	return strncmp(name - 11, "/objects/", 9) == 0 && strspn(name - 2, "0123456789abcdef") == 2 &&
	       strlen(name + 1) >= 38 && strspn(name + 1, "0123456789abcdef") == strlen(name + 1);
}

static void visit_folder(struct visit *visit, const char *path)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries =
		open_entries(open_beneath(visit->territory, path, O_RDONLY | O_DIRECTORY));
	char below[PATH_MAX];
	struct statx status;

	for (struct dirent *entry; (entry = next_entry(entries));) {
		if (entry->d_type == DT_LNK ||
		    snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", entry->d_name) >= (int)sizeof below)
			continue;
		if (entry->d_type == DT_DIR) {
			add_path(&visit->folders, below);
			continue;
		}
		/* By its status, not by the number that the folder has: some file systems say another there. */
		if (statx(dirfd(entries), entry->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS,
			  &status) < 0)
			continue;
		if (S_ISDIR(status.stx_mode))
			add_path(&visit->folders, below);
		else if (has_other_names(&status) && !(visit->passes_over_objects && is_git_object(below)))
			visit->file(visit, below, &status);
	}
}

/* Each regular file with other names, at `path` or below it. */
static void visit_files(struct visit *visit, const char *path)
{
	struct statx status;

	if (!status_at(visit->territory, path, &status))
		return;
	if (!S_ISDIR(status.stx_mode)) {
		if (has_other_names(&status))
			visit->file(visit, path, &status);
		return;
	}
	add_path(&visit->folders, path);
	for (size_t i = 0; i < visit->folders.count && i < MOST_FOLDERS; i++)
		if (!is_skipped(visit, visit->folders.list[i]))
			visit_folder(visit, visit->folders.list[i]);
	if (visit->folders.count > MOST_FOLDERS)
		visit->territory->too_large = true;
	free_paths(&visit->folders);
}

struct search {
	struct identity *wanted;
	size_t count;
	FILE *list;
	size_t listed;
	const char *unseen; /* a root that holds more than is looked through, or NULL */
};

static void want_file(struct visit *visit, const char *path, const struct statx *status)
{
	struct search *search = visit->context;

	(void)path;
	APPEND(search->wanted, search->count, identity_of(status));
}

static void list_name(struct search *search, const char *root, const char *path, const struct statx *status)
{
	struct identity identity = identity_of(status);

	if (!bsearch(&identity, search->wanted, search->count, sizeof identity, compare_identities) ||
	    search->listed++ >= MOST_LISTED)
		return;
	fprintf(search->list, "f%s%s%s%c", root, *path ? "/" : "", path, 0);
}

static void list_if_wanted(struct visit *visit, const char *path, const struct statx *status)
{
	if (!is_skipped(visit, path))
		list_name(visit->context, visit->territory->root, path, status);
}

/* What is sealed in a root, below it and sorted. */
static size_t sealed_in(const char *root, const char *words, const char *end, const char **sealed)
{
	size_t count = 0;

	for (const char *word = words; word < end; word += strlen(word) + 1)
		if (*word == 's' && behind_root(root, word + 1))
			sealed[count++] = behind_root(root, word + 1);
	if (count)
		qsort(sealed, count, sizeof *sealed, by_text);
	return count;
}

static void search_root(struct search *search, struct territory *territory, const char **sealed, size_t count)
{
	struct visit visit = { .territory = territory,
			       .file = list_if_wanted,
			       .context = search,
			       .skipped = sealed,
			       .skipped_count = count };

	visit_files(&visit, "");
}

static void want_sealed(struct search *search, struct territory *territory, const char **sealed, size_t count)
{
	struct visit visit = {
		.territory = territory, .file = want_file, .context = search, .passes_over_objects = true
	};

	for (size_t i = 0; i < count; i++)
		visit_files(&visit, sealed[i]);
}

static void search_file(struct search *search, const char *path)
{
	struct statx status;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status) == 0 && has_other_names(&status))
		list_name(search, path, "", &status);
}

/* A root of the call, to be looked through: one that is watched (`r`), or one that its tool may only read (`R`). */
static struct territory *open_root(struct territories *all, const char *word, struct territory *unwatched)
{
	if (*word == 'r')
		return territory_of(all, word + 1);
	if (*word != 'R')
		return NULL;
	*unwatched =
		(struct territory){ .root = (char *)word + 1,
				    .fd = open_how(AT_FDCWD, word + 1, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS) };
	return unwatched->fd >= 0 ? unwatched : NULL;
}

static void close_root(struct search *search, const char *word, struct territory *territory,
		       const struct territory *unwatched)
{
	if (territory != unwatched)
		return;
	close(territory->fd);
	/* A watched one was measured when the call began. */
	if (territory->too_large && !search->unseen)
		search->unseen = word + 1;
}

void list_other_names(FILE *list, struct territories *all, const char *words, const char *end)
{
	struct search search = { .list = list };
	struct territory unwatched, *territory;
	const char **sealed = allocate((size_t)(end - words) + 1, sizeof *sealed);

	for (const char *root = words; root < end; root += strlen(root) + 1) {
		if (!(territory = open_root(all, root, &unwatched)))
			continue;
		want_sealed(&search, territory, sealed, sealed_in(root + 1, words, end, sealed));
		close_root(&search, root, territory, &unwatched);
	}
	if (search.count)
		qsort(search.wanted, search.count, sizeof *search.wanted, compare_identities);
	/* Only where something has other names is everything looked through. */
	for (const char *root = words; root < end && search.count; root += strlen(root) + 1) {
		if ((territory = open_root(all, root, &unwatched))) {
			search_root(&search, territory, sealed, sealed_in(root + 1, words, end, sealed));
			close_root(&search, root, territory, &unwatched);
		} else if (*root != 's') {
			search_file(&search, root + 1);
		}
	}
	if (search.unseen)
		fprintf(list, "!%s%c", search.unseen, 0);
	free(search.wanted);
	free(sealed);
}

/* True when the copy has the content, mode and owner of the file. */
static bool copy_into(int from, int to, const struct statx *status)
{
	char block[65536];
	ssize_t got;

	while ((got = read(from, block, sizeof block)) > 0)
		if (!write_fully(to, block, got))
			return false;
	if (got < 0 || (status->stx_uid != geteuid() && fchown(to, status->stx_uid, status->stx_gid) < 0))
		return false;
	return fchmod(to, status->stx_mode & 0777) == 0;
}

static bool give_own_copy(struct territory *territory, const char *path, const struct statx *status)
{
	char copy[64];
	const char *name;
	uint64_t unforeseen = 0;

	CLOSE_ON_RETURN int folder = open_folder_of(territory, path, &name);
	CLOSE_ON_RETURN int from = open_beneath(territory, path, O_RDONLY | O_NONBLOCK);
	if (folder < 0 || from < 0 || getrandom(&unforeseen, sizeof unforeseen, 0) != sizeof unforeseen)
		return false;
	snprintf(copy, sizeof copy, ".copy-by-cordon-%016lx", unforeseen);
	CLOSE_ON_RETURN int to = openat(folder, copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to >= 0 && copy_into(from, to, status) && renameat(folder, copy, folder, name) == 0)
		return true;
	if (to >= 0)
		unlinkat(folder, copy, 0);
	return false;
}

struct giving {
	const struct identities *only; /* or NULL: every file with another name */
	gave_copy *gave;
	void *context;
	uint64_t bytes, files;
};

static void give_one(struct visit *visit, const char *path, const struct statx *status)
{
	struct giving *giving = visit->context;

	if (giving->only && !is_among(giving->only, status))
		return;
	giving->bytes += status->stx_size;
	if (giving->files++ < MOST_COPIES && giving->bytes <= MOST_COPIED)
		giving->gave(path, give_own_copy(visit->territory, path, status), giving->context);
}

void give_own_copies(struct territory *territory, const char *path, const struct identities *only, gave_copy *gave,
		     void *context)
{
	struct giving giving = { .only = only, .gave = gave, .context = context };
	struct visit visit = {
		.territory = territory, .file = give_one, .context = &giving, .passes_over_objects = true
	};

	visit_files(&visit, path);
	/* A tool decides how much there is to copy: what goes beyond goes aside as a whole. */
	if (giving.files > MOST_COPIES || giving.bytes > MOST_COPIED)
		gave(path, false, context);
}
