/* What a cell inside another one says of itself: its mark, the port of its proxy, its destinations. */
#include "wire/nested-request.h"
#include "wire/memory.h"
#include "wire/words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

const char *parse_request(char *bytes, size_t length, uint64_t *mark, struct plan *plan)
{
	struct words words = { bytes, bytes + length };
	struct broker_terms *terms = &plan->broker;
	const char *word = next_word(&words);
	uint64_t port;

	*plan = (struct plan){ .form = FORM_LANDLOCK, .network_brokered = true };
	if (!word || strcmp(word, REQUEST_WORD) != 0)
		return "it is no request";
	if (!parse_number(next_word(&words), mark) || !parse_number(next_word(&words), &port) || port < 1 ||
	    port > UINT16_MAX)
		return "no mark, or no port";
	terms->port = (uint16_t)port;
	while ((word = next_word(&words)) && strcmp(word, "end") != 0) {
		const char *value = next_word(&words), *at = next_word(&words);
		struct reach reach;
		if (!at || !parse_reach(word, value, at, &reach))
			return "not a destination";
		terms->reaches = grow(terms->reaches, terms->reach_count, sizeof reach);
		terms->reaches[terms->reach_count++] = reach;
	}
	return word ? NULL : "cut short";
}

static const char *const kinds[] = { [REACH_NAME] = "name", [REACH_BELOW] = "below" };

static void write_destination(FILE *into, const struct reach *reach)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (reach->kind != REACH_BLOCK) {
		fprintf(into, "%s%c%s%c%u%c", kinds[reach->kind], 0, reach->name, 0, reach->port, 0);
		return;
	}
	inet_ntop(AF_INET6, reach->address, address, sizeof address);
	fprintf(into, "block%c%s/%u%c%u%c", 0, address, reach->bits, 0, reach->port, 0);
}

char *write_request(const struct plan *plan, uint64_t mark, size_t *length)
{
	static const char nothing[SHORTEST_REQUEST];
	struct text text;

	begin_text(&text);
	fprintf(text.into, "%s%c%llu%c%u%c", REQUEST_WORD, 0, (unsigned long long)mark, 0, plan->broker.port, 0);
	for (size_t i = 0; i < plan->broker.reach_count; i++)
		write_destination(text.into, &plan->broker.reaches[i]);
	fprintf(text.into, "end%c", 0);
	fwrite(nothing, 1, sizeof nothing, text.into);
	end_text(&text);
	*length = text.length;
	return text.bytes;
}
