/*
 * Fuzz target: what a cell inside another one says of itself.
 * needs: wire/nested-request.c wire/words.c wire/plan.c wire/reach.c wire/memory.c wire/report.c wire/frames.c
 *
 * Beyond memory errors: what is accepted has a mark, a port and destinations with ports, and
 * grants no more of a network than these.
 */
#include "fuzz/fuzz.h"
#include "wire/nested-request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = exact_copy(data, size, 0);
	struct plan plan = { 0 };
	uint64_t mark;
	const struct broker_terms *terms = &plan.broker;

	if (!parse_request(words, size, &mark, &plan)) {
		HOLDS(terms->port > 0 && terms->reach_count * 3 < size);
		for (size_t i = 0; i < terms->reach_count; i++)
			HOLDS(terms->reaches[i].port > 0 && terms->reaches[i].bits <= 128);
		HOLDS(plan.form == FORM_LANDLOCK && plan.network_brokered && !plan.network_all && !plan.traps);
	}
	free_plan(&plan);
	free(words);
	return 0;
}
