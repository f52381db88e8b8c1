/*
 * Fuzz target: names that a tool asks for.
 * needs: keeper/network/dns.c wire/reach.c wire/words.c wire/memory.c wire/report.c wire/frames.c
 *
 * Beyond memory errors: an answer has the question's number, is marked as one, and
 * gives an address for granted names alone, which leads back to that name.
 */
#include "keeper/network/dns.h"
#include "fuzz/fuzz.h"

static void check(const uint8_t *question, size_t size, const struct broker_terms *terms, struct known_names *names)
{
	uint8_t answer[DNS_MOST];
	char refused[NAME_ROOM];
	size_t before = names->count, length = answer_question(terms, names, question, size, answer, refused);

	HOLDS(length <= DNS_MOST && memchr(refused, '\0', sizeof refused));
	HOLDS(names->count == before || names->count == before + 1);
	if (length == 0)
		return;
	HOLDS(size >= 12 && length >= 12 && memcmp(answer, question, 2) == 0 && answer[2] & 0x80);
	if (answer[7] == 0)
		return;
	const uint8_t wide[16] = { [10] = 0xff,	       [11] = 0xff,	   [12] = answer[length - 4],
				   answer[length - 3], answer[length - 2], answer[length - 1] };
	const char *name = name_behind(terms, names, wide);
	HOLDS(is_stand_in_address(terms, wide) && name && reaches_name(terms, name, 0) && !refused[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reach reaches[3];
	struct broker_terms terms = { .reaches = reaches, .reach_count = 3 };
	struct known_names names = { 0 };

	HOLDS(parse_reach("name", "example.org", "443", &reaches[0]) &&
	      parse_reach("below", "test", "80", &reaches[1]) &&
	      parse_reach("block", "192.0.2.0/24", "80", &reaches[2]));
	uint8_t *question = (uint8_t *)exact_copy(data, size, 0);
	/* Asked twice, a name keeps its address. */
	check(question, size, &terms, &names);
	size_t known = names.count;
	check(question, size, &terms, &names);
	HOLDS(names.count == known);
	free(names.at);
	free(question);
	return 0;
}
