/*
 * Fuzz target: what a cell inside another one says of itself.
 * needs: keeper/network/nested-request.c wire/words.c wire/plan.c wire/reach.c wire/report.c wire/frames.c
 *
 * Beyond memory errors: what is accepted has a mark, a port and destinations with ports, and
 * grants no more of a network than these.
 */
#include "fuzz/fuzz.h"
#include "keeper/network/nested.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = exact_copy(data, size, 0);
	struct nested cell = { 0 };
	const struct broker_terms *terms = &cell.plan.broker;

	if (!parse_request(words, size, &cell)) {
		HOLDS(terms->port > 0 && terms->reach_count * 3 < size);
		for (size_t i = 0; i < terms->reach_count; i++)
			HOLDS(terms->reaches[i].port > 0 && terms->reaches[i].bits <= 128);
		HOLDS(cell.plan.form == FORM_LANDLOCK && cell.plan.network_brokered && !cell.plan.network_all && !cell.plan.traps);
	}
	free_plan(&cell.plan);
	free(words);
	return 0;
}
