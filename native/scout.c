/*
 * The scout: one process per host process that knows, for every write root in
 * use, which protected names exist in it and which appear while a call runs.
 *
 * Requests are frames on descriptor 3, answered in order:
 *   N  the protected names: scope letter and name each
 *   B  a call begins: its number, its root, then what its policy names itself
 *      (`=PATH` below the root, `*NAME` anywhere) and what it carves out that
 *      does not exist yet (`!PATH` below the root) -> F, what is protected there
 *   H  a call begins: its number, then paths anywhere that it must not get at
 *      when somebody replaces them -> D
 *   L  the call's roots (`r` before each) and what is sealed in them (`s`) -> F, the
 *      other names that files of these have there
 *   G  from now on the tool runs: the call's number, then folders in which it can
 *      make nothing (`-PATH` below the root); no answer. What appears before this
 *      is somebody else's, and only told
 *   X  a call has ended: its number, and `unused` where its tool never ran -> D,
 *      after everything was looked at; then, if something was made in the root,
 *      what is protected there now
 * In between, A tells of something protected that was touched: the number of the
 * call, the path, what was done about it (enum deed), the new name where it has one.
 */
#include "cell.h"
#include "scout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_FD 3

struct scout {
	struct names names;
	struct territories territories;
	struct watch_order *orders;
	struct held_names held;
	uint64_t requests;
};

/* What was done about something protected that a call touched. */
enum deed {
	SET_ASIDE = 'm', /* moved to an inert name */
	PUT_BACK = 'b',  /* a link that was removed is there again */
	LEFT = 'l',      /* it could not be moved */
	UNSEEN = 'u',    /* the root holds more than is looked through */
	SEPARATED = 's', /* it had another name; it is a file of its own now */
	REPLACED = 'r',  /* nothing: somebody else replaced, moved or removed it, and with it its seal */
};

static void tell_host(unsigned long number, enum deed deed, const char *root, const char *path, const char *aside)
{
	char *payload = NULL;
	size_t length = 0;
	FILE *words = open_memstream(&payload, &length);

	if (!words)
		abort();
	fprintf(words, "%lu%c%s%s%s%c%c%c", number, 0, root, *root && *path ? "/" : "", path, 0, deed, 0);
	if (aside)
		fprintf(words, "%s/%s", root, aside);
	fputc(0, words);
	fclose(words);
	write_frame(HOST_FD, SCOUT_ASIDE, payload, length);
	free(payload);
}

static void tell(const struct watch_order *order, enum deed deed, const char *path, const char *aside)
{
	tell_host(order->number, deed, order->territory->root, path, aside);
}

/*
 * A seal is a mount, and goes where its file goes, also with a folder above it. What takes its place is open to
 * the tool. It is none of the tool's doing: what is sealed, and what that lies in, cannot be moved from inside.
 */
static void on_replacement(struct territory *territory, const char *path, void *context)
{
	const struct scout *scout = context;

	for (struct watch_order *order = scout->orders; order; order = order->next)
		if (order->territory == territory && has_seal_in(order, path))
			tell(order, REPLACED, path, NULL);
}

static void on_held_replacement(unsigned long number, const char *path)
{
	tell_host(number, REPLACED, "", path, NULL);
}

/* With its name goes what other calls have mounted over it: what they make there now was not there before them. */
static void moved_aside(struct scout *scout, const struct watch_order *order, const char *path, const char *aside)
{
	struct found *known = find(&order->territory->found, path);

	on_replacement(order->territory, path, scout);
	if (known && !known->target)
		known->seen = order->territory->turn;
	tell(order, SET_ASIDE, path, aside);
}

/* True when it is no longer there. */
static bool remove_for(struct scout *scout, const struct watch_order *order, const char *path)
{
	char aside[PATH_MAX];

	switch (put_aside(order->territory, path, aside, sizeof aside)) {
	case PUT_ASIDE:
		moved_aside(scout, order, path, aside);
		restore_link(order->territory, path);
		return true;
	case LEFT_THERE:
		tell(order, LEFT, path, NULL);
		return false;
	case NOTHING_THERE:
		break;
	}
	return true;
}

/* The tool does not run yet: its cell is planned anew, with this sealed. */
static void tell_if_disturbed(const struct watch_order *order, const char *path, bool is_protected)
{
	if ((is_protected && !is_exempt(order, path) && !find(&order->territory->found, path)) || is_carved_out(order, path))
		tell(order, REPLACED, path, NULL);
}

/* At once, not at the end: in between somebody else could run it. */
static bool on_appearance(struct territory *territory, const char *path, bool is_protected, void *context)
{
	struct scout *scout = context;

	for (struct watch_order *order = scout->orders; order; order = order->next) {
		if (order->territory != territory || is_out_of_reach(order, path))
			continue;
		if (!order->running) {
			tell_if_disturbed(order, path, is_protected);
			continue;
		}
		bool unwanted = is_guarded_link(order, path) ||
				(is_protected && must_not_appear(&scout->names, order, path, kind_at(territory, path)));
		if ((is_carved_out(order, path) || (unwanted && !link_is_unchanged(territory, path))) && !was_sealed(order, path) &&
		    !is_sealed_object(order, path))
			return remove_for(scout, order, path) && !find(&territory->found, path);
	}
	return false;
}

static void refresh(struct scout *scout, struct territory *territory, enum thoroughness how)
{
	refresh_territory(territory, &scout->names, how, &(struct observer){ on_appearance, on_replacement, scout });
}

static void answer_linked(struct scout *scout, const char *words, const char *end)
{
	char *payload = NULL;
	size_t length = 0;
	FILE *list = open_memstream(&payload, &length);

	if (!list)
		abort();
	list_other_names(list, &scout->territories, words, end);
	fclose(list);
	write_frame(HOST_FD, SCOUT_FOUND, payload, length);
	free(payload);
}

static void answer_begin(struct scout *scout, unsigned long number, const char *root, char *exempt, char *end)
{
	struct territory *territory = territory_of(&scout->territories, root);
	struct watch_order *order = calloc(1, sizeof *order);
	char *payload = NULL;
	size_t length = 0;
	FILE *list = open_memstream(&payload, &length);

	if (!order || !list)
		abort();
	const char *problem = cannot_guard(territory, exempt, end);
	if (!problem) {
		refresh(scout, territory, EVERYTHING);
		forget_vanished(territory);
		note_root(territory);
		problem = cannot_guard_all(territory);
	}
	if (problem) {
		fprintf(list, "!%s", problem);
		fputc(0, list);
		free(order);
	} else {
		territory->used = ++scout->requests;
		territory->calls++;
		*order = (struct watch_order){ .number = number, .territory = territory, .since = territory->turn, .made = scout->territories.several.made, .next = scout->orders };
		for (; exempt < end; exempt += strlen(exempt) + 1)
			add_word(order, exempt);
		scout->orders = order;
		fprintf(list, "@%llu", (unsigned long long)scout->territories.several.changes);
		fputc(0, list);
		list_guarded(list, order, &scout->names);
	}
	fclose(list);
	write_frame(HOST_FD, SCOUT_FOUND, payload, length);
	free(payload);
}

static struct watch_order *order_of(struct scout *scout, unsigned long number)
{
	for (struct watch_order *order = scout->orders; order; order = order->next)
		if (order->number == number)
			return order;
	return NULL;
}

struct disarming {
	struct scout *scout;
	const struct watch_order *order;
};

static void on_disarmed(struct territory *territory, const char *path, const char *aside, void *context)
{
	const struct disarming *disarming = context;

	(void)territory;
	if (aside)
		moved_aside(disarming->scout, disarming->order, path, aside);
	else
		tell(disarming->order, LEFT, path, NULL);
}

/* A link that was changed or removed: put back. */
static void mend_link(struct scout *scout, const struct watch_order *order, const struct found *link)
{
	if (link_is_unchanged(order->territory, link->path))
		return;
	if (kind_at(order->territory, link->path))
		remove_for(scout, order, link->path);
	else if (restore_link(order->territory, link->path))
		tell(order, PUT_BACK, link->path, NULL);
}

static void on_own_copy(const char *path, bool could, void *context)
{
	const struct disarming *disarming = context;

	if (could)
		tell(disarming->order, SEPARATED, path, NULL);
	else
		remove_for(disarming->scout, disarming->order, path);
}

/*
 * Whatever the tool made under a protected name has that name alone. Otherwise a later call could write to it by
 * another one, also one whose write roots hold only that.
 */
static void end_other_names(struct scout *scout, const struct watch_order *order, const struct found *found)
{
	struct statx status;

	if (scout->territories.several.made == order->made)
		return;
	if (found->seen <= order->since) {
		/* Permitted by the policy, and given one more name; what its user linked before stays linked. */
		if (found->kind != 'f' || !is_exempt(order, found->path) || !status_at(order->territory, found->path, &status) || status.stx_nlink <= found->names)
			return;
	} else if (is_exempt(order, found->path) && found->kind != 'f') {
		return;
	}
	FREE_ON_RETURN char *path = strdup(found->path);
	give_own_copies(order->territory, path, on_own_copy, &(struct disarming){ scout, order });
}

static void look_at_found(struct scout *scout, struct watch_order *order, const struct found *found)
{
	if (found->seen > order->since && (is_out_of_reach(order, found->path) || was_sealed_elsewhere(order, found)))
		return;
	if (!must_not_appear(&scout->names, order, found->path, found->kind))
		end_other_names(scout, order, found);
	if (is_exempt(order, found->path))
		return;
	if (found->seen <= order->since) {
		if (found->target)
			mend_link(scout, order, found);
	} else if (must_not_appear(&scout->names, order, found->path, found->kind)) {
		remove_for(scout, order, found->path);
	} else if (behind_git(found->path)) {
		disarm(order->territory, found, on_disarmed, &(struct disarming){ scout, order });
	}
}

/*
 * What was carved out before it existed. No link was on the way to it when the
 * call began: one that is there now was made to lead to it, and goes.
 */
static void remove_carved_out(struct scout *scout, const struct watch_order *order, const char *path)
{
	char part[PATH_MAX];

	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
		if (kind_at(order->territory, part) == 'l') {
			remove_for(scout, order, part);
			return;
		}
	}
	remove_for(scout, order, path);
}

static void look_at_what_is_left(struct scout *scout, struct watch_order *order)
{
	struct territory *territory = order->territory;

	keep_root_open(territory);
	refresh(scout, territory, EVERYTHING);
	for (size_t i = 0; i < order->word_count; i++)
		if (order->words[i][0] == '!')
			remove_carved_out(scout, order, order->words[i] + 1);
	for (size_t i = 0; i < territory->found.count; i++)
		look_at_found(scout, order, &territory->found.list[i]);
	forget_vanished(territory);
	if (territory->too_large)
		tell(order, UNSEEN, "", NULL);
}

/* What the next call there would have to seal; nothing where nothing was made. */
static void list_for_next(FILE *list, struct scout *scout, struct watch_order *order)
{
	if (!order->running || order->territory->grown <= order->since)
		return;
	fputc('+', list);
	fputc(0, list);
	list_guarded(list, order, &scout->names);
}

/* `next`: gets what the next call there would have to seal. */
static void finish_order(struct scout *scout, struct watch_order *order, FILE *next)
{
	struct territory *territory = order->territory;

	if (order->running)
		look_at_what_is_left(scout, order);
	if (next)
		list_for_next(next, scout, order);
	territory->calls--;
	for (struct watch_order **at = &scout->orders; *at; at = &(*at)->next) {
		if (*at == order) {
			*at = order->next;
			break;
		}
	}
	for (size_t i = 0; i < order->word_count; i++)
		free(order->words[i]);
	free(order->words);
	free(order);
}

static void answer_hold(struct scout *scout, unsigned long number, const char *path, const char *end)
{
	const char *problem = NULL;
	char words[256] = "";

	for (; !problem && path < end; path += strlen(path) + 1)
		problem = hold_name(&scout->held, number, path);
	if (problem)
		release_names(&scout->held, number);
	if (problem)
		snprintf(words, sizeof words, "!%s", problem);
	write_frame(HOST_FD, SCOUT_DONE, words, strlen(words) + 1);
}

static void finish_held(struct scout *scout, unsigned long number)
{
	take_held_events(&scout->held, on_held_replacement);
	release_names(&scout->held, number);
}

static void answer_end(struct scout *scout, unsigned long number, struct watch_order *order, bool used)
{
	char *payload = NULL;
	size_t length = 0;
	FILE *words = open_memstream(&payload, &length);

	if (!words)
		abort();
	fprintf(words, "%lu", number);
	fputc(0, words);
	if (order) {
		order->running = order->running && used;
		finish_order(scout, order, words);
	} else {
		finish_held(scout, number);
	}
	fclose(words);
	write_frame(HOST_FD, SCOUT_DONE, payload, length);
	free(payload);
}

/* A host that says what we do not understand would believe that we do: better that it hears of our end. */
static _Noreturn void refuse_host(void)
{
	exit(EXIT_REFUSED);
}

static void take_names(struct scout *scout, char *words, char *end)
{
	for (; words < end; words += strlen(words) + 1) {
		struct names *names = &scout->names;
		if (!*words || !strchr(SCOPE_LETTERS, *words))
			refuse_host();
		names->list = realloc(names->list, (names->count + 1) * sizeof *names->list);
		if (!names->list)
			abort();
		names->list[names->count++] = (struct name){ words[0], words + 1 };
		add_ending(names, words + 1);
	}
}

static void answer(struct scout *scout, struct frame *frame)
{
	char *words = frame->payload, *end = words + frame->length;
	unsigned long number = strtoul(words, NULL, 10);
	struct watch_order *order = order_of(scout, number);

	switch ((char)frame->kind) {
	case SCOUT_NAMES:
		take_names(scout, words, end);
		return; /* the names stay where they are */
	case SCOUT_BEGIN:
		words += strlen(words) + 1;
		if (words < end)
			answer_begin(scout, number, words, words + strlen(words) + 1, end);
		break;
	case SCOUT_HOLD:
		answer_hold(scout, number, words + strlen(words) + 1, end);
		break;
	case SCOUT_LINKED:
		answer_linked(scout, words + strlen(words) + 1, end);
		break;
	case SCOUT_GO:
		for (words += strlen(words) + 1; order && words < end; words += strlen(words) + 1)
			add_word(order, words);
		if (order)
			order->running = true;
		break;
	case SCOUT_END:
		answer_end(scout, number, order, words + strlen(words) + 1 >= end);
		break;
	default:
		refuse_host();
	}
	free(frame->payload);
}

int serve_scout(void)
{
	struct scout scout = { 0 };
	struct pollfd polled[2 + MOST_TERRITORIES];

	close_range(HOST_FD + 1, ~0U, 0);
	fcntl(HOST_FD, F_SETFD, FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	setsid();
	for (;;) {
		struct frame frame;
		polled[0] = (struct pollfd){ .fd = HOST_FD, .events = POLLIN };
		polled[1] = (struct pollfd){ .fd = scout.held.list ? scout.held.inotify : -1, .events = POLLIN };
		for (size_t i = 0; i < scout.territories.count; i++)
			/* What happens where no call works is for the next call there to take in. */
			polled[2 + i] = (struct pollfd){ .fd = scout.territories.list[i]->inotify, .events = scout.territories.list[i]->calls ? POLLIN : 0 };
		if (poll(polled, 2 + scout.territories.count, until_next_round(&scout.territories)) < 0 && errno != EINTR)
			return EXIT_REFUSED;
		/* First, because a tool does something only after we were told that it runs. */
		if (!polled[0].revents) {
			for (size_t i = 0; i < scout.territories.count; i++) {
				struct territory *territory = scout.territories.list[i];
				bool in_round = begins_round(territory);
				if (in_round || polled[2 + i].revents & POLLIN)
					refresh(&scout, territory, WHAT_HAPPENED);
				if (in_round)
					end_round(territory);
			}
			if (polled[1].revents & POLLIN)
				take_held_events(&scout.held, on_held_replacement);
			continue;
		}
		if (!read_frame(HOST_FD, &frame)) {
			/* The host is gone, and its cells go now; what they leave behind is still ours to look at. */
			usleep(300000);
			while (scout.orders)
				finish_order(&scout, scout.orders, NULL);
			return 0;
		}
		answer(&scout, &frame);
	}
}
