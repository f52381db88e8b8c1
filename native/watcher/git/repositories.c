/*
 * Repositories of submodules and work trees, which lie in `.git/modules` and
 * `.git/worktrees` of another. A call that makes one leaves it as it is where git
 * runs nothing because of it: its configuration says nothing else, it has no hooks,
 * and it is joined to its work tree and to nothing beyond.
 */
#include "watcher/git/repositories.h"
#include "watcher/git/config.h"
#include "wire/scope.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A small file of one line, without its end. */
static bool read_line(struct territory *territory, const char *path, char *line, size_t room)
{
	CLOSE_ON_RETURN int file = open_beneath(territory, path, O_RDONLY | O_NONBLOCK);
	struct stat status;

	if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	ssize_t length = read(file, line, room);
	if (length <= 0 || (size_t)length == room || memchr(line, '\0', length))
		return false;
	if (line[length - 1] == '\n')
		length--;
	line[length] = '\0';
	return length > 0 && !strpbrk(line, "\n\r");
}

/*
 * The place below the root that `value` names, from a folder below the root: by its text. Whatever is opened there is
 * opened through no link, so that the text is what git finds.
 */
static bool place_of(const struct territory *territory, const char *folder, const char *value, char *place)
{
	char whole[3 * PATH_MAX];
	size_t root = strlen(territory->root), used = 0;

	if (value[0] == '/' && (strncmp(value, territory->root, root) != 0 || value[root] != '/'))
		return false;
	snprintf(whole, sizeof whole, "%s/%s", value[0] == '/' ? "" : folder,
		 value[0] == '/' ? value + root + 1 : value);
	place[0] = '\0';
	for (char *rest, *name = strtok_r(whole, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			char *slash = strrchr(place, '/');
			if (used == 0)
				return false;
			used = slash ? slash - place : 0;
			place[used] = '\0';
			continue;
		}
		int more = snprintf(place + used, PATH_MAX - used, "%s%s", used ? "/" : "", name);
		if (more >= (int)(PATH_MAX - used))
			return false;
		used += more;
	}
	return used > 0;
}

static void folder_of(const char *path, char *folder)
{
	const char *slash = strrchr(path, '/');

	snprintf(folder, PATH_MAX, "%.*s", (int)(slash ? slash - path : 0), path);
}

/* Where a `.git` file leads. */
static bool follow_git_file(struct territory *territory, const char *path, char *repository)
{
	char line[PATH_MAX], folder[PATH_MAX];

	if (!read_line(territory, path, line, sizeof line) || strncmp(line, "gitdir: ", 8) != 0)
		return false;
	folder_of(path, folder);
	return place_of(territory, folder, line + 8, repository);
}

static bool lies_in_part(const char *repository, const char *part)
{
	const char *behind = behind_git(repository);

	return behind && strncmp(behind, part, strlen(part)) == 0;
}

/* The folder that a file in `folder` names is `wanted`. */
static bool names_place(struct territory *territory, const char *folder, const char *name, const char *wanted)
{
	char path[PATH_MAX], line[PATH_MAX], place[PATH_MAX];

	return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
	       read_line(territory, path, line, sizeof line) && place_of(territory, folder, line, place) &&
	       strcmp(place, wanted) == 0;
}

/* `.git/worktrees/NAME` shares what lies two folders above it. */
static bool shares_its_own(struct territory *territory, const char *repository)
{
	char owner[PATH_MAX];
	const char *behind = behind_git(repository);

	if (!lies_in_part(repository, "/worktrees/") || strchr(behind + strlen("/worktrees/"), '/'))
		return false;
	snprintf(owner, sizeof owner, "%.*s", (int)(behind - repository), repository);
	return names_place(territory, repository, "commondir", owner);
}

/* What core.worktree says, where the folder that it names has a `.git` file that leads back; or nothing. */
static bool find_work_tree(struct territory *territory, const char *repository, char *value, size_t room)
{
	char path[PATH_MAX], line[PATH_MAX], place[PATH_MAX], back[PATH_MAX];
	bool found = false;

	if (snprintf(path, sizeof path, "%s/config", repository) >= (int)sizeof path)
		return false;
	int file = open_beneath(territory, path, O_RDONLY | O_NONBLOCK);
	FILE *config = file < 0 ? NULL : fdopen(file, "r");
	while (config && !found && fgets(line, sizeof line, config)) {
		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, "\tworktree = ", 12) == 0;
	}
	if (config)
		fclose(config);
	/* Nothing that git would read in another way. */
	if (!found || strlen(line + 12) >= room || strpbrk(line + 12, "\"\\#;\t\r") || strstr(line + 12, "  "))
		return false;
	snprintf(value, room, "%s", line + 12);
	return place_of(territory, repository, value, place) && !behind_git(place) && strlen(place) + 6 < sizeof path &&
	       snprintf(path, sizeof path, "%.*s/.git", PATH_MAX - 8, place) > 0 &&
	       follow_git_file(territory, path, back) && strcmp(back, repository) == 0;
}

bool leads_to_own_repository(struct territory *territory, const char *path)
{
	char repository[PATH_MAX], value[PATH_MAX];

	if (!follow_git_file(territory, path, repository) || kind_at(territory, repository) != 'd')
		return false;
	if (lies_in_part(repository, "/worktrees/"))
		return shares_its_own(territory, repository) && names_place(territory, repository, "gitdir", path);
	char folder[PATH_MAX], place[PATH_MAX];
	folder_of(path, folder);
	return lies_in_part(repository, "/modules/") && find_work_tree(territory, repository, value, sizeof value) &&
	       place_of(territory, repository, value, place) && strcmp(place, folder) == 0;
}

void disarm_hooks(struct territory *territory, const char *path, was_put_aside *moved, void *context)
{
	int folder = open_beneath(territory, path, O_RDONLY | O_DIRECTORY);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	char hook[PATH_MAX];

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		/* git runs only names without a dot: pre-commit, not pre-commit.sample. */
		if (strchr(entry->d_name, '.'))
			continue;
		if (snprintf(hook, sizeof hook, "%s/%s", path, entry->d_name) < (int)sizeof hook)
			move_and_tell(territory, hook, moved, context);
	}
	if (entries)
		closedir(entries);
}

struct disarming {
	struct territory *territory;
	was_put_aside *moved;
	void *context;
	struct paths folders;
};

static void disarm_config(struct disarming *disarming, const char *repository, const char *path)
{
	CLOSE_ON_RETURN int file = open_beneath(disarming->territory, path, O_RDONLY | O_NONBLOCK);
	char value[PATH_MAX];
	bool is_joined = find_work_tree(disarming->territory, repository, value, sizeof value);

	if (file < 0 || !config_file_is_harmless(file, is_joined ? value : NULL))
		move_and_tell(disarming->territory, path, disarming->moved, disarming->context);
}

static void disarm_part(struct disarming *disarming, const char *repository, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", repository, name) >= (int)sizeof path)
		return;
	char kind = kind_at(disarming->territory, path);
	if (!kind)
		return;
	if (strcmp(name, "hooks") == 0 && kind == 'd')
		disarm_hooks(disarming->territory, path, disarming->moved, disarming->context);
	else if (strncmp(name, "config", 6) == 0 && kind == 'f')
		disarm_config(disarming, repository, path);
	else if (strcmp(name, "commondir") != 0 || !shares_its_own(disarming->territory, repository))
		move_and_tell(disarming->territory, path, disarming->moved, disarming->context);
}

/* git takes a folder for a repository that has these. */
struct signs {
	bool head, objects, references, shared;
};

static void look_into(struct disarming *disarming, const char *path)
{
	int folder = open_beneath(disarming->territory, path, O_RDONLY | O_DIRECTORY);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	struct signs has = { 0 };
	char below[PATH_MAX];

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    snprintf(below, sizeof below, "%s/%s", path, name) >= (int)sizeof below)
			continue;
		has.head = has.head || strcmp(name, "HEAD") == 0;
		has.objects = has.objects || strcmp(name, "objects") == 0;
		has.references = has.references || strcmp(name, "refs") == 0;
		has.shared = has.shared || strcmp(name, "commondir") == 0;
		char kind = entry->d_type == DT_UNKNOWN ? kind_at(disarming->territory, below)
			    : entry->d_type == DT_DIR	? 'd'
			    : entry->d_type == DT_LNK	? 'l'
							: 'f';
		/* A link could lead to a repository that nobody looks at. */
		if (kind == 'l')
			move_and_tell(disarming->territory, below, disarming->moved, disarming->context);
		if (kind == 'd')
			add_path(&disarming->folders, below);
	}
	if (entries)
		closedir(entries);
	if (!has.head || !(has.shared || (has.objects && has.references)))
		return;
	static const char *const parts[] = { "hooks", "config", "config.worktree", "commondir" };
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		disarm_part(disarming, path, parts[i]);
}

void disarm_repositories(struct territory *territory, const char *folder, was_put_aside *moved, void *context)
{
	struct disarming disarming = { territory, moved, context, { 0 } };

	add_path(&disarming.folders, folder);
	for (size_t i = 0; i < disarming.folders.count && i < MOST_FOLDERS; i++)
		look_into(&disarming, disarming.folders.list[i]);
	if (disarming.folders.count > MOST_FOLDERS)
		territory->too_large = true;
	free_paths(&disarming.folders);
}
