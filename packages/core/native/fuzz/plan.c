/*
 * Fuzz target: plans and commands.
 * needs: wire/plan.c wire/words.c wire/reach.c wire/memory.c wire/report.c wire/frames.c
 *
 * The first byte chooses which of the two the rest is. Beyond memory errors:
 * what is accepted is whole, and no part of it would have been accepted.
 */
#include "wire/plan.h"
#include "fuzz/fuzz.h"

static bool is_word_of(const char *word, const char *bytes, size_t size)
{
	return word >= bytes && word < bytes + size && memchr(word, '\0', bytes + size - word);
}

static bool is_path_of(const char *path, const char *bytes, size_t size)
{
	return is_word_of(path, bytes, size) && path[0] == '/' && !strstr(path, "/../") && !strstr(path, "/./");
}

static void check_plan(const struct plan *plan, const char *bytes, size_t size)
{
	HOLDS(plan->form == FORM_NAMESPACES || plan->form == FORM_LANDLOCK);
	HOLDS(is_path_of(plan->cwd, bytes, size) && is_path_of(plan->scratch, bytes, size));
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct step *step = &plan->steps[i];
		HOLDS(is_path_of(step->path, bytes, size));
		HOLDS((step->kind == STEP_BIND) == (step->access != 0));
		HOLDS((step->kind == STEP_LINK || step->kind == STEP_FILE || step->kind == STEP_COVER) ==
		      (step->text != NULL));
		HOLDS(!step->text || is_word_of(step->text, bytes, size));
	}
	for (size_t i = 0; i < plan->rule_count; i++)
		HOLDS(plan->rules[i].access != 0 && is_path_of(plan->rules[i].path, bytes, size));
	for (size_t i = 0; i < plan->programs.count; i++)
		HOLDS(is_path_of(plan->programs.at[i], bytes, size));
	HOLDS(plan->exec_limited || plan->programs.count == 0);
	HOLDS(plan->network_brokered == (plan->broker.port != 0) && !(plan->network_brokered && plan->network_all));
	HOLDS(plan->network_brokered || plan->broker.reach_count == 0);
	for (size_t i = 0; i < plan->broker.reach_count; i++) {
		const struct reach *reach = &plan->broker.reaches[i];
		HOLDS(reach->port != 0 && reach->bits <= 128 && is_word_of(reach->name, bytes, size) && *reach->name);
	}
	HOLDS(plan->terminal == (plan->streams[0] == STREAM_TERMINAL || plan->streams[1] == STREAM_TERMINAL ||
				 plan->streams[2] == STREAM_TERMINAL));
}

static bool accepts_plan(const uint8_t *data, size_t size)
{
	struct plan plan;
	char *bytes = exact_copy(data, size, 0);
	const char *wrong = parse_plan(bytes, size, &plan);

	if (!wrong)
		check_plan(&plan, bytes, size);
	free_plan(&plan);
	free(bytes);
	return !wrong;
}

static bool accepts_command(const uint8_t *data, size_t size)
{
	struct command command;
	char *bytes = exact_copy(data, size, 0);
	const char *wrong = parse_command(bytes, size, &command);

	if (!wrong) {
		HOLDS(is_path_of(command.program, bytes, size) && command.argv[0]);
		for (char **word = command.argv; *word; word++)
			HOLDS(is_word_of(*word, bytes, size));
		for (char **word = command.envp; *word; word++)
			HOLDS(is_word_of(*word, bytes, size));
	}
	free(command.argv);
	free(command.envp);
	free(bytes);
	return !wrong;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	bool (*accepts)(const uint8_t *, size_t) = data[0] & 1 ? accepts_command : accepts_plan;
	if (accepts(++data, --size))
		for (size_t part = 0; part < size; part += 1 + size / 16)
			HOLDS(!accepts(data, part));
	return 0;
}
