/* The order to watch a write root for one call: what its policy says about names that appear there. */
#include "watcher/watch-order.h"
#include "wire/memory.h"

void add_word(struct watch_order *order, const char *word)
{
	APPEND(order->words, order->word_count, copy_text(word));
}

bool is_exempt(const struct watch_order *order, const char *path)
{
	for (size_t i = 0; i < order->word_count; i++) {
		const char *name = order->words[i] + 1;
		if (order->words[i][0] == '=' && strcmp(name, path) == 0)
			return true;
		if (order->words[i][0] == '*' && ends_in_name(path, name))
			return true;
	}
	return false;
}

static bool has_word(const struct watch_order *order, char letter, const char *path)
{
	for (size_t i = 0; i < order->word_count; i++)
		if (order->words[i][0] == letter && strcmp(order->words[i] + 1, path) == 0)
			return true;
	return false;
}

bool is_carved_out(const struct watch_order *order, const char *path)
{
	return has_word(order, '!', path);
}

bool has_carve_out_in(const struct watch_order *order, const char *path)
{
	for (size_t i = 0; i < order->word_count; i++)
		if (order->words[i][0] == '!' && lies_in(order->words[i] + 1, path))
			return true;
	return false;
}

bool is_carved_link(const struct watch_order *order, const char *path)
{
	return has_word(order, '@', path);
}

bool is_carved_alone(const struct watch_order *order, const char *path)
{
	return has_word(order, '#', path);
}

bool was_sealed(const struct watch_order *order, const char *path)
{
	const struct found *known = find(&order->territory->found, path);

	return known && known->seen <= order->since && !known->target;
}

/* Words `-PATH`: folders in which nothing can be made. */
static bool is_closed_to_tool(const struct watch_order *order, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? slash - path : 0;

	for (size_t i = 0; i < order->word_count; i++)
		if (order->words[i][0] == '-' && strlen(order->words[i]) == length + 1 &&
		    strncmp(order->words[i] + 1, path, length) == 0)
			return true;
	return false;
}

bool is_out_of_reach(const struct watch_order *order, const char *path)
{
	char folder[PATH_MAX];

	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
		const struct found *known = find(&order->territory->found, folder);
		if (known && known->kind == 'd' && !known->on_the_way && was_sealed(order, folder) &&
		    !is_exempt(order, folder))
			return true;
	}
	return is_closed_to_tool(order, path);
}

/* What is sealed was found before all else, and of more than a thousand seals no call is begun. */
#define MOST_COMPARED 4096

static bool has_sealed(const struct watch_order *order, const struct identity *identity, const char *except)
{
	const struct findings *all = &order->territory->found;

	for (size_t i = 0; i < all->count && i < MOST_COMPARED; i++) {
		const struct found *sealed = &all->list[i];
		if (sealed->seen <= order->since && !sealed->target && is_same_object(&sealed->identity, identity) &&
		    strcmp(sealed->path, except) != 0 && !is_exempt(order, sealed->path))
			return true;
	}
	return false;
}

bool was_sealed_elsewhere(const struct watch_order *order, const struct found *found)
{
	return has_sealed(order, &found->identity, found->path);
}

bool is_sealed_object(const struct watch_order *order, const char *path)
{
	struct statx status;

	if (!status_at(order->territory, path, &status))
		return false;
	struct identity identity = identity_of(&status);
	return has_sealed(order, &identity, path);
}

bool has_seal_in(const struct watch_order *order, const char *path)
{
	const struct findings *found = &order->territory->found;

	for (size_t i = 0; i < found->count; i++) {
		const struct found *seal = &found->list[i];
		if (seal->seen <= order->since && !seal->target && lies_in(seal->path, path) &&
		    !is_exempt(order, seal->path))
			return true;
	}
	return false;
}

bool is_guarded_link(const struct watch_order *order, const char *path)
{
	const struct found *known = find(&order->territory->found, path);

	return known && known->seen <= order->since && known->target && !is_exempt(order, path);
}

/*
 * Parts of a repository that was there before the call; a new one is looked at when the call has ended. One without a
 * configuration is still being made. If somebody replaced that, the call is ended anyway.
 */
static bool in_old_repository(const struct watch_order *order, const char *path)
{
	const char *git = behind_git(path);
	char config[PATH_MAX];

	if (!git || !*git)
		return false;
	snprintf(config, sizeof config, "%.*s/config", (int)(git - path), path);
	const struct found *part = find(&order->territory->found, config);
	struct statx status;
	if (!part || part->seen > order->since || strcmp(config, path) == 0 ||
	    !status_at(order->territory, config, &status))
		return false;
	return part->kind != 'f' || status.stx_ino == part->identity.inode;
}

bool must_not_appear(const struct names *names, const struct watch_order *order, const char *path, char kind)
{
	if (is_exempt(order, path))
		return false;
	/* Submodules and work trees: judged by what is in them, like a new repository. */
	if (kind == 'd' && (ends_in_name(path, ".git/modules") || ends_in_name(path, ".git/worktrees")))
		return false;
	if (behind_git(path))
		return in_old_repository(order, path);
	for (size_t i = 0; i < names->count; i++) {
		if (!means_name(path, names->list[i].path, kind))
			continue;
		if (!strchr(path, '/') || strcmp(path, names->list[i].path) == 0)
			return names->list[i].scope != SCOPE_FILE;
		/* Deeper down, editors' and package managers' files come with every scaffold and package. */
		if (names->list[i].scope == SCOPE_ANYWHERE)
			return true;
	}
	return false;
}

bool may_have_made(const struct watch_order *order, const char *path)
{
	return order->running && !is_out_of_reach(order, path) && !was_sealed(order, path) &&
	       !is_sealed_object(order, path);
}
