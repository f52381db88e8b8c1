/*
 * The configuration of a repository that a tool made: anything in it that is not plainly harmless makes the file
 * suspect. It is read line by line, more narrowly than git does: what git would read in another way is refused here.
 */
#include "watcher/git/config.h"
#include "wire/memory.h"

#define LARGEST_CONFIG (1 << 20)
#define BLANKS " \t\r"

/* Settings that make git run nothing. The list of the others grows with every version of git. */
static bool is_harmless(const char *section, const char *key)
{
	static const char *const harmless[] = {
		"core.repositoryformatversion",
		"core.filemode",
		"core.bare",
		"core.logallrefupdates",
		"core.ignorecase",
		"core.precomposeunicode",
		"core.sparsecheckout",
		"core.sparsecheckoutcone",
		"index.sparse",
		"core.symlinks",
		"core.autocrlf",
		"core.eol",
		"core.abbrev",
		"core.compression",
		"remote.url",
		"remote.fetch",
		"remote.tagopt",
		"remote.prune",
		"remote.pushurl",
		"remote.promisor",
		"remote.partialclonefilter",
		"branch.remote",
		"branch.merge",
		"branch.rebase",
		"branch.description",
		"submodule.url",
		"submodule.active",
		"submodule.branch",
		"extensions.objectformat",
		"extensions.partialclone",
		"extensions.worktreeconfig",
		"extensions.refstorage",
		"user.name",
		"user.email",
		"init.defaultbranch",
		"pull.rebase",
		"pull.ff",
		"push.default",
		"push.autosetupremote",
		"gc.auto",
		"index.version",
		"advice.detachedhead",
	};
	char full[256];

	snprintf(full, sizeof full, "%s.%s", section, key);
	for (size_t i = 0; i < COUNT_OF(harmless); i++)
		if (strcasecmp(full, harmless[i]) == 0)
			return true;
	return false;
}

/*
 * `[name]` or `[name "anything"]`, and nothing behind it: git also reads a setting on the same line, and old names with
 * dots, which this does not.
 */
static bool read_section(const char *line, char *section, size_t room)
{
	size_t length = strspn(line + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	const char *at = line + 1 + length;

	if (length == 0 || length >= room)
		return false;
	snprintf(section, room, "%.*s", (int)length, line + 1);
	if (strncmp(at, " \"", 2) == 0) {
		for (at += 2; *at && *at != '"'; at++)
			if (*at == '\\' && *++at == '\0')
				return false;
		if (*at++ != '"')
			return false;
	}
	return strcmp(at, "]") == 0;
}

/* `ext::` and the like name a program instead of a place. git joins what quotes and backslashes keep apart. */
static bool names_a_program(const char *value)
{
	char last = '\0';

	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			continue;
		if (*value == ':' && last == ':')
			return true;
		last = *value;
	}
	return false;
}

/* The folder that a repository belongs to, where the caller has seen that it does. */
static bool is_work_tree(const char *section, const char *key, const char *line, const char *work_tree)
{
	const char *value = strchr(line, '=');

	if (!work_tree || !value || strcasecmp(section, "core") != 0 || strcasecmp(key, "worktree") != 0)
		return false;
	value += 1 + strspn(value + 1, BLANKS);
	return strcmp(value, work_tree) == 0;
}

static bool line_is_harmless(char *line, char *section, size_t room, const char *work_tree)
{
	char *at = line + strspn(line, BLANKS), key[128];
	size_t length = strlen(at);

	if (*at == '\0' || *at == '#' || *at == ';')
		return true;
	while (strchr(BLANKS, at[length - 1]))
		at[--length] = '\0';
	/* Continued on the next line. */
	if (at[length - 1] == '\\')
		return false;
	if (*at == '[')
		return read_section(at, section, room);
	snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " \t="), at);
	return (is_harmless(section, key) || is_work_tree(section, key, at, work_tree)) && !names_a_program(at);
}

bool config_is_harmless(char *text, size_t length, const char *work_tree)
{
	char section[128] = "";

	/* Behind a NUL byte we would see nothing, and git might. */
	if (memchr(text, '\0', length))
		return false;
	text[length] = '\0';
	for (char *line = text; line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (!line_is_harmless(line, section, sizeof section, work_tree))
			return false;
		line = end ? end + 1 : NULL;
	}
	return true;
}

bool config_file_is_harmless(int file, const char *work_tree)
{
	FREE_ON_RETURN char *text = resize(NULL, LARGEST_CONFIG + 1);
	struct stat status;
	size_t length = 0;
	ssize_t got = 0;

	if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	while (length < LARGEST_CONFIG && (got = read(file, text + length, LARGEST_CONFIG - length)) > 0)
		length += got;
	/* One that fills the room may go on behind it. */
	return got == 0 && length < LARGEST_CONFIG && config_is_harmless(text, length, work_tree);
}
