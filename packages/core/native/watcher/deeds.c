/* What is done about protected names that a call touched: at once, and when it has ended. */
#include "watcher/deeds.h"
#include "watcher/frames.h"
#include "watcher/git/disarm.h"
#include "watcher/links.h"
#include "watcher/other-names.h"
#include "watcher/territory/remember.h"
#include "watcher/territory/several-names.h"
#include "wire/frames.h"
#include "wire/memory.h"

static void tell_host(unsigned long number, enum deed deed, const char *root, const char *path, const char *aside)
{
	struct text words;

	begin_text(&words);
	fprintf(words.into, "%lu%c%s%s%s%c%c%c", number, 0, root, *root && *path ? "/" : "", path, 0, deed, 0);
	if (aside)
		fprintf(words.into, "%s/%s", root, aside);
	fputc(0, words.into);
	end_text(&words);
	write_frame(WATCHER_HOST, WATCHER_ASIDE, words.bytes, words.length);
	free(words.bytes);
}

static void tell(const struct watch_order *order, enum deed deed, const char *path, const char *aside)
{
	tell_host(order->number, deed, order->territory->root, path, aside);
}

/*
 * A seal is a mount, and goes where its file goes, also with a folder above it. What takes its place is open to the
 * tool. The tool did not do that: what is sealed, and what that lies in, cannot be moved from inside.
 */
static void on_replacement(struct territory *territory, const char *path, void *context)
{
	const struct watcher *watcher = context;

	for (struct watch_order *order = watcher->orders; order; order = order->next)
		if (order->territory == territory && has_seal_in(order, path))
			tell(order, REPLACED, path, NULL);
}

void on_held_replacement(unsigned long number, const char *path)
{
	tell_host(number, REPLACED, "", path, NULL);
}

/* Every call that may have made it is told: nobody knows which one did, and none may end as if it were there. */
static void tell_makers(const struct watcher *watcher, const struct territory *territory,
			const struct watch_order *except, const char *path, const char *aside)
{
	for (const struct watch_order *order = watcher->orders; order; order = order->next)
		if (order != except && order->territory == territory && may_have_made(order, path))
			tell(order, SET_ASIDE, path, aside);
}

/* The mounts of other calls go with it: what they make there now was not there before them. */
static void moved_aside(struct watcher *watcher, const struct watch_order *order, const char *path, const char *aside)
{
	struct found *known = find(&order->territory->found, path);

	on_replacement(order->territory, path, watcher);
	tell(order, SET_ASIDE, path, aside);
	tell_makers(watcher, order->territory, order, path, aside);
	add_path(&order->territory->set_aside, aside);
	if (known && !known->target)
		known->seen = order->territory->turn;
}

/* When the call began, no link was on the way to what is carved out. One that is there now was made to lead to it. */
static bool leads_to_carved_out(const struct watch_order *order, const char *path)
{
	return has_carve_out_in(order, path) && kind_at(order->territory, path) == 'l';
}

/* What appeared there must be removed, for this call. */
static bool minds(const struct names *names, const struct watch_order *order, const char *path, bool is_protected)
{
	bool unwanted = is_guarded_link(order, path) ||
			(is_protected && must_not_appear(names, order, path, kind_at(order->territory, path)));

	return (is_carved_out(order, path) || leads_to_carved_out(order, path) ||
		(unwanted && !link_is_unchanged(order->territory, path))) &&
	       !was_sealed(order, path) && !is_sealed_object(order, path);
}

/* It may be the work of another call, whose policy permits it. */
static bool may_be_of_another(const struct watcher *watcher, const struct watch_order *order, const char *path)
{
	for (const struct watch_order *other = watcher->orders; other; other = other->next)
		if (other != order && other->territory == order->territory && may_have_made(other, path) &&
		    !minds(&watcher->names, other, path, true))
			return true;
	return false;
}

/* It stays, and is not judged again: the call is killed now. */
static void leave_to_another(struct watch_order *order, const char *path)
{
	char word[PATH_MAX + 1];

	tell(order, SHARED, path, NULL);
	snprintf(word, sizeof word, "=%s", path);
	add_word(order, word);
}

/* True when it is no longer there. */
static bool remove_for(struct watcher *watcher, struct watch_order *order, const char *path)
{
	char aside[PATH_MAX];

	if (may_be_of_another(watcher, order, path)) {
		leave_to_another(order, path);
		return false;
	}
	switch (put_aside(order->territory, path, aside, sizeof aside)) {
	case PUT_ASIDE:
		moved_aside(watcher, order, path, aside);
		restore_link(order->territory, path);
		return true;
	case LEFT_THERE: tell(order, LEFT, path, NULL); return false;
	case NOTHING_THERE: break;
	}
	return true;
}

/* The tool does not run yet: its cell is planned anew, with this sealed. */
static void tell_if_disturbed(const struct watch_order *order, const char *path, bool is_protected)
{
	if ((is_protected && !is_exempt(order, path) && !find(&order->territory->found, path)) ||
	    is_carved_out(order, path) || leads_to_carved_out(order, path))
		tell(order, REPLACED, path, NULL);
}

/* At once, not at the end: in between somebody else could run it. */
static bool on_appearance(struct territory *territory, const char *path, bool is_protected, void *context)
{
	struct watcher *watcher = context;

	for (struct watch_order *order = watcher->orders; order; order = order->next) {
		if (order->territory != territory || is_out_of_reach(order, path))
			continue;
		if (!order->running)
			tell_if_disturbed(order, path, is_protected);
		else if (minds(&watcher->names, order, path, is_protected) && remove_for(watcher, order, path))
			return !find(&territory->found, path);
	}
	return false;
}

/* The first link on the way to what is carved out, or that itself. */
static void first_made_of(const struct watch_order *order, const char *carved, char *made, size_t room)
{
	for (const char *end = strchr(carved, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(made, room, "%.*s", (int)(end - carved), carved);
		if (kind_at(order->territory, made) == 'l')
			return;
	}
	snprintf(made, room, "%s", carved);
}

/* At once too: what is carved out may be loaded as soon as it has its name, and a folder brings it along. */
static void on_brought(struct territory *territory, const char *folder, void *context)
{
	char made[PATH_MAX];

	for (struct watch_order *order = ((struct watcher *)context)->orders; order; order = order->next)
		for (size_t i = 0; order->territory == territory && i < order->word_count; i++) {
			if (order->words[i][0] != '!' || !lies_in(order->words[i] + 1, folder))
				continue;
			first_made_of(order, order->words[i] + 1, made, sizeof made);
			if (kind_at(territory, made))
				on_appearance(territory, made, false, context);
		}
}

/* By the watcher of another host, for a call of its own. */
static void on_set_aside(struct territory *territory, const char *path, const char *aside, void *context)
{
	tell_makers(context, territory, NULL, path, aside);
}

void refresh(struct watcher *watcher, struct territory *territory, enum thoroughness how)
{
	refresh_territory(territory, how,
			  &(struct observer){ &watcher->names, on_appearance, on_brought, on_replacement, on_set_aside,
					      watcher });
}

struct disarming {
	struct watcher *watcher;
	struct watch_order *order;
};

static void on_disarmed(struct territory *territory, const char *path, const char *aside, void *context)
{
	const struct disarming *disarming = context;

	(void)territory;
	if (aside)
		moved_aside(disarming->watcher, disarming->order, path, aside);
	else
		tell(disarming->order, LEFT, path, NULL);
}

/*
 * A link that was changed or removed: put back. The folders above one that the policy carves out are pinned, so only
 * another program can have taken them away.
 */
static void mend_link(struct watcher *watcher, struct watch_order *order, const struct found *link)
{
	if (link_is_unchanged(order->territory, link->path))
		return;
	if (kind_at(order->territory, link->path))
		remove_for(watcher, order, link->path);
	else if (restore_link(order->territory, link->path))
		tell(order, PUT_BACK, link->path, NULL);
	else if (is_carved_link(order, link->path))
		tell(order, REPLACED, link->path, NULL);
}

static void on_own_copy(const char *path, bool could, void *context)
{
	const struct disarming *disarming = context;

	if (could)
		tell(disarming->order, SEPARATED, path, NULL);
	else
		remove_for(disarming->watcher, disarming->order, path);
}

/*
 * What the tool made under a protected name keeps that name alone, and so does what the policy permits if a name was
 * made for it during the call. Otherwise a later call could write to it by another name. What its user linked before
 * stays linked.
 */
static void end_other_names(struct watcher *watcher, struct watch_order *order, const struct found *found,
			    const struct identities *linked_files)
{
	bool is_permitted = is_exempt(order, found->path);

	if (watcher->territories.several.made == order->made || (found->seen <= order->since && !is_permitted))
		return;
	FREE_ON_RETURN char *path = copy_text(found->path);
	give_own_copies(order->territory, path, is_permitted ? linked_files : NULL, on_own_copy,
			&(struct disarming){ watcher, order });
}

static void look_at_found(struct watcher *watcher, struct watch_order *order, const struct found *found,
			  const struct identities *linked_files)
{
	if (found->seen > order->since && (is_out_of_reach(order, found->path) || was_sealed_elsewhere(order, found)))
		return;
	if (!must_not_appear(&watcher->names, order, found->path, found->kind))
		end_other_names(watcher, order, found, linked_files);
	if (is_exempt(order, found->path))
		return;
	if (found->seen <= order->since) {
		if (found->target)
			mend_link(watcher, order, found);
	} else if (must_not_appear(&watcher->names, order, found->path, found->kind)) {
		remove_for(watcher, order, found->path);
	} else if (behind_git(found->path)) {
		disarm(order->territory, found, on_disarmed, &(struct disarming){ watcher, order });
	}
}

/* What was carved out before it existed. */
static void remove_carved_out(struct watcher *watcher, struct watch_order *order, const char *path)
{
	char made[PATH_MAX];

	first_made_of(order, path, made, sizeof made);
	remove_for(watcher, order, made);
}

void look_at_what_is_left(struct watcher *watcher, struct watch_order *order)
{
	struct territory *territory = order->territory;

	keep_root_open(territory);
	/* A file of this root may have got a name in another one. */
	for (size_t i = 0; i < watcher->territories.count; i++)
		if (watcher->territories.list[i] != territory && watcher->territories.list[i]->calls)
			refresh(watcher, watcher->territories.list[i], WHAT_HAPPENED);
	refresh(watcher, territory, EVERYTHING);
	struct identities linked_files =
		files_linked_since(&watcher->territories.several, order->linked_files_before, order->lost);
	for (size_t i = 0; i < order->word_count; i++)
		if (order->words[i][0] == '!')
			remove_carved_out(watcher, order, order->words[i] + 1);
	for (size_t i = 0; i < territory->found.count; i++)
		look_at_found(watcher, order, &territory->found.list[i], &linked_files);
	free(linked_files.list);
	forget_vanished(territory);
	if (territory->too_large)
		tell(order, UNSEEN, "", NULL);
}
