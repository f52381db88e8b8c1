/*
 * Putting aside what would run in a repository that appeared.
 *
 * Repositories of submodules and work trees lie in `.git/modules` and `.git/worktrees` of another. One that a call made
 * stays as it is where git runs nothing because of it: its configuration is harmless, it has no hooks, and it is joined
 * to its work tree and to nothing beyond.
 */
#include "watcher/git/disarm.h"
#include "watcher/git/config.h"

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
	size_t used = 0;

	const char *below = behind_root(territory->root, value);
	if (value[0] == '/' && !below)
		return false;
	snprintf(whole, sizeof whole, "%s/%s", below ? "" : folder, below ? below : value);
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

/* Whether a `.git` file leads to a repository that Cordon looks after by its name, and that leads back. */
static bool leads_to_own_repository(struct territory *territory, const char *path)
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

static void disarm_hooks(struct territory *territory, const char *path, was_put_aside *moved, void *context)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries = open_entries(open_beneath(territory, path, O_RDONLY | O_DIRECTORY));
	char hook[PATH_MAX];

	/* git runs only names without a dot: pre-commit, not pre-commit.sample. */
	for (struct dirent *entry; (entry = next_entry(entries));)
		if (!strchr(entry->d_name, '.') &&
		    snprintf(hook, sizeof hook, "%s/%s", path, entry->d_name) < (int)sizeof hook)
			move_and_tell(territory, hook, moved, context);
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

static void look_into(struct disarming *disarming, const char *path)
{
	CLOSE_FOLDER_ON_RETURN DIR *entries =
		open_entries(open_beneath(disarming->territory, path, O_RDONLY | O_DIRECTORY));
	bool head = false, objects = false, references = false, shared = false;
	char below[PATH_MAX];

	for (struct dirent *entry; (entry = next_entry(entries));) {
		const char *name = entry->d_name;
		if (snprintf(below, sizeof below, "%s/%s", path, name) >= (int)sizeof below)
			continue;
		head = head || strcmp(name, "HEAD") == 0;
		objects = objects || strcmp(name, "objects") == 0;
		references = references || strcmp(name, "refs") == 0;
		shared = shared || strcmp(name, "commondir") == 0;
		char kind = kind_of_entry(disarming->territory, entry, below);
		/* A link could lead to a repository that nobody looks at. */
		if (kind == 'l')
			move_and_tell(disarming->territory, below, disarming->moved, disarming->context);
		if (kind == 'd')
			add_path(&disarming->folders, below);
	}
	/* What git takes for a repository. */
	if (!head || !(shared || (objects && references)))
		return;
	static const char *const parts[] = { "hooks", "config", "config.worktree", "commondir" };
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		disarm_part(disarming, path, parts[i]);
}

/* Puts aside what would run in the repositories at or below this folder. */
static void disarm_repositories(struct territory *territory, const char *folder, was_put_aside *moved, void *context)
{
	struct disarming disarming = { territory, moved, context, { 0 } };

	add_path(&disarming.folders, folder);
	for (size_t i = 0; i < disarming.folders.count && i < MOST_FOLDERS; i++)
		look_into(&disarming, disarming.folders.list[i]);
	if (disarming.folders.count > MOST_FOLDERS)
		territory->too_large = true;
	free_paths(&disarming.folders);
}

void disarm(struct territory *territory, const struct found *found, was_put_aside *moved, void *context)
{
	bool hooks = ends_in_name(found->path, ".git/hooks");
	bool config = ends_in_name(found->path, ".git/config") || ends_in_name(found->path, ".git/config.worktree");
	bool repositories = ends_in_name(found->path, ".git/modules") || ends_in_name(found->path, ".git/worktrees");

	if (hooks && found->kind == 'd') {
		disarm_hooks(territory, found->path, moved, context);
		return;
	}
	if (repositories && found->kind == 'd') {
		disarm_repositories(territory, found->path, moved, context);
		return;
	}
	if (ends_in_name(found->path, ".git") && found->kind == 'f' && leads_to_own_repository(territory, found->path))
		return;
	if (config && found->kind == 'f') {
		/* O_NONBLOCK: it may be a pipe, which nobody will ever write to. */
		CLOSE_ON_RETURN int file = open_beneath(territory, found->path, O_RDONLY | O_NONBLOCK);
		if (file >= 0 && config_file_is_harmless(file, NULL))
			return;
	}
	/* A hooks folder or configuration that is a link, or anything else of a new repository that redirects git. */
	move_and_tell(territory, found->path, moved, context);
}
