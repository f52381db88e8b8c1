/*
 * The scout: one process per host process that knows, for every write root in
 * use, which protected names exist in it and which appear while a call runs.
 *
 * Requests are frames on descriptor 3, answered in order:
 *   N  the protected names: scope letter and name each
 *   B  a call begins: its number, its root, then what its policy names itself
 *      (`=PATH` below the root, `*NAME` anywhere) and what it carves out that
 *      does not exist yet (`!PATH` below the root) -> F, what is protected there
 *   X  a call has ended: its number -> D, after everything was looked at
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
#define MOST_TERRITORIES 64
#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

struct scout {
	struct names names;
	struct territory *territories[MOST_TERRITORIES];
	size_t territory_count;
	struct watch_order *orders;
	uint64_t requests;
};

/* What was done about something protected that a call touched. */
enum deed {
	SET_ASIDE = 'm', /* moved to an inert name */
	PUT_BACK = 'b',  /* a link that was removed is there again */
	LEFT = 'l',      /* it could not be moved */
	UNSEEN = 'u',    /* the root holds more than is looked through */
};

static void tell(const struct watch_order *order, enum deed deed, const char *path, const char *aside)
{
	const char *root = order->territory->root;
	char *payload = NULL;
	size_t length = 0;
	FILE *words = open_memstream(&payload, &length);

	if (!words)
		abort();
	fprintf(words, "%lu%c%s%s%s%c%c%c", order->number, 0, root, *path ? "/" : "", path, 0, deed, 0);
	if (aside)
		fprintf(words, "%s/%s", root, aside);
	fputc(0, words);
	fclose(words);
	write_frame(HOST_FD, SCOUT_ASIDE, payload, length);
	free(payload);
}

/* True when it is no longer there. */
static bool remove_for(const struct watch_order *order, const char *path)
{
	char aside[PATH_MAX];

	switch (put_aside(order->territory, path, aside, sizeof aside)) {
	case PUT_ASIDE:
		tell(order, SET_ASIDE, path, aside);
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

/* At once, not at the end: in between somebody else could run it. */
static bool on_appearance(struct territory *territory, const char *path, bool is_protected, void *context)
{
	struct scout *scout = context;

	for (struct watch_order *order = scout->orders; order; order = order->next) {
		if (order->territory != territory)
			continue;
		bool unwanted = is_carved_out(order, path) ||
				(is_protected && must_not_appear(&scout->names, order, path) && !link_is_unchanged(territory, path));
		if (unwanted && !was_sealed(order, path))
			return remove_for(order, path) && !find(&territory->found, path);
	}
	return false;
}

static bool in_use(const struct scout *scout, const struct territory *territory)
{
	for (const struct watch_order *order = scout->orders; order; order = order->next)
		if (order->territory == territory)
			return true;
	return false;
}

static void refresh(struct scout *scout, struct territory *territory, enum thoroughness how)
{
	territory->in_use = in_use(scout, territory);
	refresh_territory(territory, &scout->names, how, on_appearance, scout);
}

/* A root that was replaced by another folder of the same name is not the one we know. */
static bool is_still_there(const struct territory *territory)
{
	struct stat known, now;

	return fstat(territory->fd, &known) == 0 && lstat(territory->root, &now) == 0 && known.st_ino == now.st_ino && known.st_dev == now.st_dev;
}

static void drop_territory(struct scout *scout, size_t index)
{
	close_territory(scout->territories[index]);
	scout->territories[index] = scout->territories[--scout->territory_count];
}

static void make_room(struct scout *scout)
{
	size_t oldest = MOST_TERRITORIES;

	for (size_t i = 0; i < scout->territory_count; i++)
		if (!in_use(scout, scout->territories[i]) && (oldest == MOST_TERRITORIES || scout->territories[i]->used < scout->territories[oldest]->used))
			oldest = i;
	if (scout->territory_count == MOST_TERRITORIES && oldest < MOST_TERRITORIES)
		drop_territory(scout, oldest);
}

static struct territory *territory_of(struct scout *scout, const char *root)
{
	for (size_t i = 0; i < scout->territory_count; i++) {
		struct territory *known = scout->territories[i];
		if (strcmp(known->root, root) != 0)
			continue;
		if (is_still_there(known) || in_use(scout, known))
			return known;
		drop_territory(scout, i);
		break;
	}
	make_room(scout);
	errno = EMFILE;
	struct territory *territory = scout->territory_count < MOST_TERRITORIES ? open_territory(root) : NULL;
	if (territory)
		scout->territories[scout->territory_count++] = territory;
	return territory;
}

/* NULL, or why the root cannot be guarded; the host refuses the call then. */
static const char *cannot_guard(const struct territory *territory, const char *word, const char *end)
{
	if (!territory)
		return strerror(errno);
	/* Where a carve-out that does not exist would come to lie is the tool's to arrange; only a watch sees it made. */
	for (; territory->inotify < 0 && word < end; word += strlen(word) + 1)
		if (word[0] == '!')
			return "carve-outs that do not exist yet need inotify, which is used up (fs.inotify.max_user_instances)";
	return NULL;
}

/* The same, known after a look at it. */
static const char *cannot_guard_all(const struct territory *territory)
{
	const struct found *root = find(&territory->found, "");

	if (root && root->closed)
		return "its user may not list it";
	if (territory->too_large)
		return "it holds more than " TEXT_OF(MOST_FOLDERS) " folders, or paths that are too long; grant smaller folders";
	return NULL;
}

static void list_found(FILE *list, const struct territory *territory, char kind, const char *path)
{
	fprintf(list, "%c%s/%s", kind, territory->root, path);
	fputc(0, list);
}

/* Who can change what a link leads to has no need to change the link. */
static void guard_target(FILE *list, struct watch_order *order, const struct found *link)
{
	char kind = 0;
	FREE_ON_RETURN char *target = is_exempt(order, link->path) ? NULL : target_below_root(order->territory, link, &kind);

	if (!target)
		return;
	if (kind) {
		list_found(list, order->territory, kind, target);
	} else {
		FREE_ON_RETURN char *word = NULL;
		if (asprintf(&word, "!%s", target) < 0)
			abort();
		add_word(order, word);
	}
}

static void answer_begin(struct scout *scout, unsigned long number, const char *root, char *exempt, char *end)
{
	struct territory *territory = territory_of(scout, root);
	struct watch_order *order = calloc(1, sizeof *order);
	char *payload = NULL;
	size_t length = 0;
	FILE *list = open_memstream(&payload, &length);

	if (!order || !list)
		abort();
	const char *problem = cannot_guard(territory, exempt, end);
	if (!problem) {
		refresh(scout, territory, EVERYTHING);
		problem = cannot_guard_all(territory);
	}
	if (problem) {
		fprintf(list, "!%s", problem);
		fputc(0, list);
		free(order);
	} else {
		territory->used = ++scout->requests;
		*order = (struct watch_order){ .number = number, .territory = territory, .since = territory->turn, .next = scout->orders };
		for (; exempt < end; exempt += strlen(exempt) + 1)
			add_word(order, exempt);
		scout->orders = order;
		for (size_t i = 0; i < territory->found.count; i++) {
			const struct found *found = &territory->found.list[i];
			list_found(list, territory, found->kind, found->path);
			if (found->target)
				guard_target(list, order, found);
		}
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

static void on_disarmed(struct territory *territory, const char *path, const char *aside, void *context)
{
	(void)territory;
	tell(context, aside ? SET_ASIDE : LEFT, path, aside);
}

/* A link that was changed or removed: put back. */
static void mend_link(const struct watch_order *order, const struct found *link)
{
	if (link_is_unchanged(order->territory, link->path))
		return;
	if (kind_at(order->territory, link->path))
		remove_for(order, link->path);
	else if (restore_link(order->territory, link->path))
		tell(order, PUT_BACK, link->path, NULL);
}

static void look_at_found(const struct scout *scout, struct watch_order *order, const struct found *found)
{
	if (is_exempt(order, found->path))
		return;
	if (found->seen <= order->since) {
		if (found->target)
			mend_link(order, found);
	} else if (must_not_appear(&scout->names, order, found->path)) {
		remove_for(order, found->path);
	} else if (behind_git(found->path)) {
		disarm(order->territory, found, on_disarmed, order);
	}
}

/*
 * What was carved out before it existed. No link was on the way to it when the
 * call began: one that is there now was made to lead to it, and goes.
 */
static void remove_carved_out(const struct watch_order *order, const char *path)
{
	char part[PATH_MAX];

	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
		if (kind_at(order->territory, part) == 'l') {
			remove_for(order, part);
			return;
		}
	}
	remove_for(order, path);
}

static void finish_order(struct scout *scout, struct watch_order *order)
{
	struct territory *territory = order->territory;

	refresh(scout, territory, EVERYTHING);
	for (size_t i = 0; i < order->word_count; i++)
		if (order->words[i][0] == '!')
			remove_carved_out(order, order->words[i] + 1);
	for (size_t i = 0; i < territory->found.count; i++)
		look_at_found(scout, order, &territory->found.list[i]);
	if (territory->too_large)
		tell(order, UNSEEN, "", NULL);
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

static void take_names(struct scout *scout, char *words, char *end)
{
	for (; words < end; words += strlen(words) + 1) {
		struct names *names = &scout->names;
		names->list = realloc(names->list, (names->count + 1) * sizeof *names->list);
		if (!names->list)
			abort();
		names->list[names->count++] = (struct name){ words[0], words + 1 };
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
	case SCOUT_END:
		if (order)
			finish_order(scout, order);
		write_frame(HOST_FD, SCOUT_DONE, words, strlen(words) + 1);
		break;
	}
	free(frame->payload);
}

int serve_scout(void)
{
	struct scout scout = { 0 };
	struct pollfd polled[1 + MOST_TERRITORIES];

	close_range(HOST_FD + 1, ~0U, 0);
	fcntl(HOST_FD, F_SETFD, FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	setsid();
	for (;;) {
		struct frame frame;
		polled[0] = (struct pollfd){ .fd = HOST_FD, .events = POLLIN };
		for (size_t i = 0; i < scout.territory_count; i++)
			/* What happens where no call works is for the next call there to take in. */
			polled[1 + i] = (struct pollfd){ .fd = scout.territories[i]->inotify, .events = in_use(&scout, scout.territories[i]) ? POLLIN : 0 };
		if (poll(polled, 1 + scout.territory_count, -1) < 0 && errno != EINTR)
			return EXIT_REFUSED;
		for (size_t i = 0; i < scout.territory_count; i++)
			if (polled[1 + i].revents & POLLIN)
				refresh(&scout, scout.territories[i], WHAT_HAPPENED);
		if (!polled[0].revents)
			continue;
		if (!read_frame(HOST_FD, &frame)) {
			/* The host is gone, and its cells go now; what they leave behind is still ours to look at. */
			usleep(300000);
			while (scout.orders)
				finish_order(&scout, scout.orders);
			return 0;
		}
		answer(&scout, &frame);
	}
}
