/* The protected names: which paths are one. */
#include "watcher/territory/names.h"
#include "watcher/territory/paths.h"
#include "wire/hash.h"
#include "wire/memory.h"

static bool in_dependencies(const char *path)
{
	return strncmp(path, "node_modules/", 13) == 0 || strstr(path, "/node_modules/");
}

bool leads_to_name(const char *path, const char *name, const char **rest)
{
	char first[NAME_MAX + 1];

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(first, sizeof first, "%.*s", (int)(slash - name), name);
		if (!ends_in_name(path, first))
			continue;
		*rest = slash + 1;
		return true;
	}
	return false;
}

bool means_name(const char *path, const char *name, char kind)
{
	const char *rest;

	return ends_in_name(path, name) || (kind == 'l' && leads_to_name(path, name, &rest));
}

static uint64_t *ending_of(uint64_t *endings, const char *name, const char *end, uint64_t *bit)
{
	uint64_t hash = hash_bytes(name, (size_t)(end - name)) >> 32;

	*bit = 1ull << (hash & 63);
	return &endings[hash >> 6 & (ENDINGS - 1)];
}

static void add_ending(struct names *names, const char *name)
{
	uint64_t bit;

	/* A link of the name `.config` leads to the `fish` of `.config/fish`: every part counts. */
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		*ending_of(names->endings, part, part + strcspn(part, "/"), &bit) |= bit;
	}
}

static bool may_be_protected(const struct names *names, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint64_t bit;

	return *ending_of((uint64_t *)names->endings, name, name + strlen(name), &bit) & bit;
}

/* A branch may have any name that does not begin with a dot; in a repository those are names of git's own. */
static bool is_name_of_git(const char *path, const char *name)
{
	const char *git = behind_git(path), *slash = strrchr(path, '/');

	return git && *git && slash && slash[1] != '.' && strncmp(name, ".git/", 5) != 0;
}

bool is_protected_name(const struct names *names, const char *path, char kind)
{
	if (!may_be_protected(names, path))
		return false;
	for (size_t i = 0; i < names->count; i++) {
		if (!means_name(path, names->list[i].path, kind) || is_name_of_git(path, names->list[i].path))
			continue;
		switch (names->list[i].scope) {
		case SCOPE_ANYWHERE: return true;
		case SCOPE_PROJECT:
			if (!in_dependencies(path))
				return true;
			break;
		case SCOPE_ROOT:
			if (strchr(path, '/') == NULL || strcmp(path, names->list[i].path) == 0)
				return true;
			break;
		case SCOPE_FILE:
			if (kind != 'd')
				return true;
			break;
		}
	}
	return false;
}

bool take_names(struct names *names, const char *words, const char *end)
{
	for (; words < end; words += strlen(words) + 1) {
		if (!*words || !strchr(SCOPE_LETTERS, *words))
			return false;
		APPEND(names->list, names->count, (struct name){ words[0], words + 1 });
		add_ending(names, words + 1);
	}
	return true;
}
