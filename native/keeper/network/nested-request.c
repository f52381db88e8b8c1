/* What a cell inside another one says of itself: its mark, the port of its proxy, its destinations. A tool may have written it. */
#include "keeper/network/nested.h"
#include "wire/words.h"

#include <string.h>

const char *parse_request(char *bytes, size_t length, struct nested *into)
{
	struct words words = { bytes, bytes + length };
	struct broker_terms *terms = &into->plan.broker;
	const char *word = next_word(&words);
	uint64_t port;

	into->plan = (struct plan){ .form = FORM_LANDLOCK, .network_brokered = true };
	if (!word || strcmp(word, REQUEST_WORD) != 0)
		return "it is no request";
	if (!parse_number(next_word(&words), &into->mark) || !parse_number(next_word(&words), &port) || port < 1 || port > 65535)
		return "no mark, or no port";
	terms->port = port;
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
