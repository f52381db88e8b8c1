/*
 * The watcher: one process per host process that knows, for every write root in use, which protected names exist in it
 * and which appear while a call runs. Requests are frames on descriptor 3, answered in order; docs/protocol.md says
 * what is in them.
 */
#include "watcher/watcher.h"
#include "watcher/deeds.h"
#include "watcher/frames.h"
#include "watcher/links.h"
#include "watcher/other-names.h"
#include "watcher/territory/remember.h"
#include "wire/memory.h"
#include "wire/read-frame.h"
#include "wire/report.h"

static void send_text(enum watcher_frame kind, struct text *text)
{
	end_text(text);
	write_frame(WATCHER_HOST, (char)kind, text->bytes, text->length);
	free(text->bytes);
}

static void answer_other_names(struct watcher *watcher, const char *words, const char *end)
{
	struct text list;

	begin_text(&list);
	list_other_names(list.into, &watcher->territories, words, end);
	send_text(WATCHER_FOUND, &list);
}

static void answer_begin(struct watcher *watcher, unsigned long number, const char *root, char *exempt, char *end)
{
	struct territory *territory = territory_of(&watcher->territories, root);
	struct watch_order *order = allocate(1, sizeof *order);
	struct text list;

	begin_text(&list);
	const char *problem = cannot_guard(territory, exempt, end);
	if (!problem) {
		refresh(watcher, territory, EVERYTHING);
		forget_vanished(territory);
		note_root(territory);
		problem = cannot_guard_all(territory);
	}
	if (problem) {
		fprintf(list.into, "!%s%c", problem, 0);
		free(order);
	} else {
		struct several_names *several = &watcher->territories.several;
		territory->used = ++watcher->requests;
		territory->calls++;
		if (!watcher->orders)
			several->linked_files.count = 0;
		*order = (struct watch_order){ .number = number,
					       .territory = territory,
					       .since = territory->turn,
					       .made = several->made,
					       .lost = several->linked_files.lost,
					       .linked_files_before = several->linked_files.count,
					       .next = watcher->orders };
		for (; exempt < end; exempt += strlen(exempt) + 1)
			add_word(order, exempt);
		watcher->orders = order;
		remember_carved_links(order);
		fprintf(list.into, "@%lu%c", several->changes, 0);
		list_guarded(list.into, order, &watcher->names);
	}
	send_text(WATCHER_FOUND, &list);
}

static struct watch_order *order_of(struct watcher *watcher, unsigned long number)
{
	for (struct watch_order *order = watcher->orders; order; order = order->next)
		if (order->number == number)
			return order;
	return NULL;
}

/* What the next call there would have to seal; nothing where nothing was made. */
static void list_for_next(FILE *list, struct watcher *watcher, struct watch_order *order)
{
	if (!order->running || order->territory->grown <= order->since)
		return;
	fprintf(list, "+%c", 0);
	list_guarded(list, order, &watcher->names);
}

/* `next`: gets what the next call there would have to seal. */
static void finish_order(struct watcher *watcher, struct watch_order *order, FILE *next)
{
	struct territory *territory = order->territory;

	if (order->running)
		look_at_what_is_left(watcher, order);
	if (next)
		list_for_next(next, watcher, order);
	if (--territory->calls == 0)
		free_paths(&territory->set_aside);
	for (struct watch_order **at = &watcher->orders; *at; at = &(*at)->next) {
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

static void answer_hold(struct watcher *watcher, unsigned long number, const char *path, const char *end)
{
	const char *problem = NULL;
	char words[256] = "";

	for (; !problem && path < end; path += strlen(path) + 1)
		problem = hold_name(&watcher->held, number, path);
	if (problem) {
		release_names(&watcher->held, number);
		snprintf(words, sizeof words, "!%s", problem);
	}
	write_frame(WATCHER_HOST, WATCHER_DONE, words, strlen(words) + 1);
}

static void answer_end(struct watcher *watcher, unsigned long number, struct watch_order *order, bool used)
{
	struct text words;

	begin_text(&words);
	fprintf(words.into, "%lu%c", number, 0);
	if (order) {
		order->running = order->running && used;
		finish_order(watcher, order, words.into);
	} else {
		take_held_events(&watcher->held);
		release_names(&watcher->held, number);
	}
	send_text(WATCHER_DONE, &words);
}

/* A host must not believe that we understood what we did not: better that it hears of our end. */
static _Noreturn void refuse_host(void)
{
	exit(EXIT_REFUSED);
}

static void answer(struct watcher *watcher, struct frame *frame)
{
	char *words = frame->payload, *end = words + frame->length;
	unsigned long number = strtoul(words, NULL, 10);
	struct watch_order *order = order_of(watcher, number);

	switch ((char)frame->kind) {
	case WATCHER_NAMES:
		if (!take_names(&watcher->names, words, end))
			refuse_host();
		return; /* the names stay where they are */
	case WATCHER_BEGIN:
		words += strlen(words) + 1;
		if (words < end)
			answer_begin(watcher, number, words, words + strlen(words) + 1, end);
		break;
	case WATCHER_HOLD: answer_hold(watcher, number, words + strlen(words) + 1, end); break;
	case WATCHER_OTHER_NAMES: answer_other_names(watcher, words + strlen(words) + 1, end); break;
	case WATCHER_GO:
		for (words += strlen(words) + 1; order && words < end; words += strlen(words) + 1)
			add_word(order, words);
		if (order)
			order->running = true;
		break;
	case WATCHER_END: answer_end(watcher, number, order, words + strlen(words) + 1 >= end); break;
	default: refuse_host();
	}
	free(frame->payload);
}

int serve_watcher(void)
{
	struct watcher watcher = { .held = { .inotify = -1, .replaced = on_held_replacement } };
	struct pollfd polled[2 + MOST_TERRITORIES];

	close_range(WATCHER_HOST + 1, ~0U, 0);
	fcntl(WATCHER_HOST, F_SETFD, FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	setsid();
	for (;;) {
		struct frame frame;
		polled[0] = (struct pollfd){ .fd = WATCHER_HOST, .events = POLLIN };
		polled[1] = (struct pollfd){ .fd = watcher.held.list ? watcher.held.inotify : -1, .events = POLLIN };
		for (size_t i = 0; i < watcher.territories.count; i++)
			/* What happens where no call works is for the next call there to take in. */
			polled[2 + i] = (struct pollfd){ .fd = watcher.territories.list[i]->inotify,
							 .events = watcher.territories.list[i]->calls ? POLLIN : 0 };
		if (poll(polled, 2 + watcher.territories.count, until_next_round(&watcher.territories)) < 0 &&
		    errno != EINTR)
			return EXIT_REFUSED;
		/* First, because a tool does something only after we were told that it runs. */
		if (!polled[0].revents) {
			for (size_t i = 0; i < watcher.territories.count; i++) {
				struct territory *territory = watcher.territories.list[i];
				bool in_round = begins_round(territory);
				if (in_round || polled[2 + i].revents & POLLIN)
					refresh(&watcher, territory, WHAT_HAPPENED);
				if (in_round)
					end_round(territory);
			}
			if (polled[1].revents & POLLIN)
				take_held_events(&watcher.held);
			continue;
		}
		if (!read_frame(WATCHER_HOST, &frame)) {
			/* The host is gone, and its cells go now; what they leave behind is still ours to look at. */
			usleep(300000);
			while (watcher.orders)
				finish_order(&watcher, watcher.orders, NULL);
			return 0;
		}
		answer(&watcher, &frame);
	}
}
