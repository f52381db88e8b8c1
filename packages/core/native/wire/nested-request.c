/*
 * What a cell inside another one says of itself to the outer keeper: its mark, the port of its proxy, its destinations.
 * It is given to connect() in the place of an address.
 */
#include "wire/nested-request.h"
#include "wire/memory.h"
#include "wire/words.h"

#include <arpa/inet.h>

#define REQUEST_WORD "cordon-nested-1"

const char *parse_request(char *bytes, size_t length, uint64_t *mark, struct plan *plan)
{
	struct words words = { bytes, bytes + length };
	struct broker_terms *terms = &plan->broker;
	const char *word = next_word(&words);

	*plan = (struct plan){ .form = FORM_LANDLOCK, .network_brokered = true };
	if (!word || strcmp(word, REQUEST_WORD) != 0)
		return "it is no request";
	if (!parse_number(next_word(&words), mark) || !parse_port(next_word(&words), &terms->port))
		return "no mark, or no port";
	while ((word = next_word(&words)) && strcmp(word, "end") != 0) {
		const char *value = next_word(&words), *port = next_word(&words);
		struct reach reach;
		if (!port || !parse_reach(word, value, port, &reach))
			return "not a destination";
		APPEND(terms->reaches, terms->reach_count, reach);
	}
	return word ? NULL : "cut short";
}

static void write_destination(FILE *into, const struct reach *reach)
{
	char address[INET6_ADDRSTRLEN] = "";

	fprintf(into, "%s%c", reach_kinds[reach->kind], 0);
	if (reach->kind == REACH_BLOCK)
		fprintf(into, "%s/%u", inet_ntop(AF_INET6, reach->address, address, sizeof address), reach->bits);
	else
		fputs(reach->name, into);
	fprintf(into, "%c%u%c", 0, reach->port, 0);
}

char *write_request(const struct plan *plan, uint64_t mark, size_t *length)
{
	static const char nothing[SHORTEST_REQUEST];
	struct text text;

	begin_text(&text);
	fprintf(text.into, "%s%c%lu%c%u%c", REQUEST_WORD, 0, mark, 0, plan->broker.port, 0);
	for (size_t i = 0; i < plan->broker.reach_count; i++)
		write_destination(text.into, &plan->broker.reaches[i]);
	fprintf(text.into, "end%c", 0);
	fwrite(nothing, 1, sizeof nothing, text.into);
	end_text(&text);
	*length = text.length;
	return text.bytes;
}
