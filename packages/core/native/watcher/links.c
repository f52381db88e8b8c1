/*
 * Protected names that are links. No mount can seal a link, so it is remembered and put back. A tool that can change
 * what it leads to, or another link on the way there, need not change the link: these are guarded with it.
 */
#include "watcher/links.h"
#include "watcher/territory/remember.h"
#include "wire/memory.h"

/* As the kernel's own. */
#define MOST_LINKS 40

bool link_is_unchanged(struct territory *territory, const char *path)
{
	const struct found *known = find(&territory->found, path);
	FREE_ON_RETURN char *now = read_link(territory, path);

	return known && known->target && now && strcmp(known->target, now) == 0;
}

/* The way to where a link leads, name by name. */
struct way {
	struct territory *territory;
	char at[PATH_MAX]; /* so far; no link is in it any more */
	char ahead[2 * PATH_MAX]; /* the names that are left */
	unsigned links;
	bool missing; /* from here on nothing exists */
};

/* Takes the first of the names ahead. False when none is left. */
static bool next_name(struct way *way, char *name)
{
	size_t skipped = strspn(way->ahead, "/"), length = strcspn(way->ahead + skipped, "/");

	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(name, way->ahead + skipped, length);
	name[length] = '\0';
	memmove(way->ahead, way->ahead + skipped + length, strlen(way->ahead + skipped + length) + 1);
	return true;
}

/* What a link outside of the root says is nothing that the tool could change. */
static char *text_of_link(struct way *way)
{
	const char *below = behind_root(way->territory->root, way->at);
	char target[PATH_MAX];

	if (below)
		return read_link(way->territory, below);
	ssize_t length = readlink(way->at, target, sizeof target - 1);
	return length < 0 ? NULL : copy_part(target, length);
}

static char kind_on(struct way *way)
{
	const char *below = behind_root(way->territory->root, way->at);
	struct stat status;

	if (below)
		return kind_at(way->territory, below);
	return lstat(way->at, &status) < 0 ? 0 : S_ISDIR(status.st_mode) ? 'd' : S_ISLNK(status.st_mode) ? 'l' : 'f';
}

static bool take_link(struct way *way)
{
	const char *below = behind_root(way->territory->root, way->at);
	FREE_ON_RETURN char *text = text_of_link(way);
	char ahead[2 * PATH_MAX];

	if (!text || ++way->links > MOST_LINKS)
		return false;
	/* The protected link itself is known already, and is not on the way to itself. */
	if (below && remember(way->territory, below, 'l'))
		find(&way->territory->found, below)->on_the_way = true;
	if (snprintf(ahead, sizeof ahead, "%s/%s", text, way->ahead) >= (int)sizeof ahead)
		return false;
	memcpy(way->ahead, ahead, sizeof ahead);
	*(text[0] == '/' ? way->at : strrchr(way->at, '/')) = '\0';
	return true;
}

/* False when it leads nowhere, and nothing could be made where it leads. */
static bool go(struct way *way, const char *name)
{
	size_t length = strlen(way->at);

	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(way->at, '/');
		if (slash)
			*slash = '\0';
		return true;
	}
	if (snprintf(way->at + length, sizeof way->at - length, "/%s", name) >= (int)(sizeof way->at - length))
		return false;
	if (way->missing)
		return true;
	switch (kind_on(way)) {
	case 'l': return take_link(way);
	case 0: way->missing = true;
	}
	return true;
}

/* Where `path` below the root leads, and then `rest` from there: below the root too, or NULL. Kind 0: not there yet. */
static char *destination(struct territory *territory, const char *path, const char *rest, char *kind)
{
	struct way way = { .territory = territory };
	char name[NAME_MAX + 1];

	if (snprintf(way.at, sizeof way.at, "%s", territory->root) >= (int)sizeof way.at ||
	    snprintf(way.ahead, sizeof way.ahead, "%s/%s", path, rest) >= (int)sizeof way.ahead)
		return NULL;
	while (next_name(&way, name))
		if (!go(&way, name))
			return NULL;
	const char *below = behind_root(territory->root, way.at);
	*kind = below ? kind_at(territory, below) : 0;
	return below ? copy_text(below) : NULL;
}

static void guard(struct watch_order *order, const char *path, const char *rest)
{
	char kind = 0;
	FREE_ON_RETURN char *target = destination(order->territory, path, rest, &kind);

	if (target && kind) {
		/* Remembered, so that it is noticed when somebody takes it away; and listed in its turn. */
		if (remember(order->territory, target, kind))
			find(&order->territory->found, target)->on_the_way = true;
		return;
	}
	if (!target)
		return;
	char word[PATH_MAX + 1];
	snprintf(word, sizeof word, "!%s", target);
	add_word(order, word);
}

static void guard_target(struct watch_order *order, const struct names *names, const char *path)
{
	const char *rest;
	bool is_folder_of_name = false;

	if (is_exempt(order, path) || (is_carved_alone(order, path) && !is_protected_name(names, path, 'l')))
		return;
	for (size_t i = 0; i < names->count; i++) {
		/* `.config`, as a link, leads to the `fish` of `.config/fish`, and to much that is nobody's concern. */
		if (!leads_to_name(path, names->list[i].path, &rest))
			continue;
		is_folder_of_name = true;
		guard(order, path, rest);
	}
	if (!is_folder_of_name || ends_in_name(path, ".git"))
		guard(order, path, "");
}

void remember_carved_links(struct watch_order *order)
{
	for (size_t i = 0; i < order->word_count; i++) {
		const char *path = order->words[i] + 1;
		if (order->words[i][0] != '@' || kind_at(order->territory, path) != 'l')
			continue;
		remember(order->territory, path, 'l');
		/* Another call may know it as a part of the way to a name of its own. */
		struct found *link = find(&order->territory->found, path);
		if (link)
			link->on_the_way = false;
	}
}

void list_guarded(FILE *list, struct watch_order *order, const struct names *names)
{
	struct findings *found = &order->territory->found;

	/* Where links lead, and through which others, is remembered as we go, at the end of the list. */
	for (size_t i = 0; i < found->count; i++) {
		fprintf(list, "%c%s/%s%c", found->list[i].kind, order->territory->root, found->list[i].path, 0);
		if (!found->list[i].target || found->list[i].on_the_way)
			continue;
		FREE_ON_RETURN char *path = copy_text(found->list[i].path);
		guard_target(order, names, path);
	}
}
