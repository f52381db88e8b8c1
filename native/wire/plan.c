/*
 * The plan: NUL-separated words, compiled by the host from a permit. It is
 * trusted input, but a plan that is cut short or misspelt must never become a
 * weaker boundary: every word is checked, and the last one must be `end`.
 */
#include "wire/plan.h"
#include "wire/memory.h"
#include "wire/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parse_access(const char *letters, unsigned *access)
{
	*access = 0;
	if (!letters || !*letters)
		return false;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'r': *access |= ACCESS_READ; break;
		case 'w': *access |= ACCESS_WRITE; break;
		case 'x': *access |= ACCESS_EXECUTE; break;
		case 'd': *access |= ACCESS_DEVICE; break;
		case 'l': *access |= ACCESS_LIST; break;
		default: return false;
		}
	}
	return true;
}

static const char *parse_step(struct words *words, struct plan *plan, enum step_kind kind)
{
	struct step step = { .kind = kind };

	if (kind == STEP_BIND && !parse_access(next_word(words), &step.access))
		return "bind: unknown access letters";
	step.path = next_word(words);
	if (!absolute(step.path))
		return "step: not an absolute, normal path";
	if (kind == STEP_LINK || kind == STEP_FILE || kind == STEP_COVER) {
		step.text = next_word(words);
		if (!step.text)
			return "step: its text is missing";
	}
	plan->steps = grow(plan->steps, plan->step_count, sizeof step);
	plan->steps[plan->step_count++] = step;
	return NULL;
}

/* Every limit at most once, like a trap: 0 is no limit. */
static const char *parse_limit(struct words *words, struct plan *plan)
{
	static const struct {
		const char *name;
		size_t at;
	} names[] = {
		{ "memory", offsetof(struct limits, memory) },
		{ "processes", offsetof(struct limits, processes) },
		{ "userProcesses", offsetof(struct limits, user_processes) },
		{ "cpu", offsetof(struct limits, cpu) },
		{ "wall", offsetof(struct limits, wall) },
		{ "output", offsetof(struct limits, output) },
		{ "openFiles", offsetof(struct limits, files) },
		{ "fileSize", offsetof(struct limits, file_size) },
		{ "scratch", offsetof(struct limits, scratch) },
	};
	const char *name = next_word(words);
	uint64_t value;

	if (!name || !parse_number(next_word(words), &value) || value == 0)
		return "limit: not a name and a number";
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t *limit = (uint64_t *)((char *)&plan->limits + names[i].at);
		if (strcmp(names[i].name, name) != 0)
			continue;
		if (*limit)
			return "limit: given twice";
		*limit = value;
		return NULL;
	}
	return "limit: unknown name";
}

static const char *parse_trap(struct words *words, struct plan *plan)
{
	static const struct {
		const char *name;
		enum trap trap;
	} names[] = {
		{ "connect", TRAP_CONNECT }, { "fork", TRAP_FORK },	    { "exec", TRAP_EXEC },
		{ "open", TRAP_OPEN },	     { "metadata", TRAP_METADATA }, { "memory-file", TRAP_MEMORY_FILE },
		{ "socket", TRAP_SOCKET },   { "signal", TRAP_SIGNAL },	    { "read", TRAP_READ },
		{ "change", TRAP_CHANGE },   { "name", TRAP_NAME },	    { "write", TRAP_WRITE },
		{ "watch", TRAP_WATCH },
	};
	const char *name = next_word(words);

	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i].name, name) == 0) {
			plan->traps |= names[i].trap;
			return NULL;
		}
	}
	return "trap: unknown name";
}

/* `yes` or `no` as first or second of two allowed words. */
static const char *parse_choice(struct words *words, const char *no, const char *yes, bool *choice)
{
	const char *word = next_word(words);

	if (!word || (strcmp(word, no) != 0 && strcmp(word, yes) != 0))
		return "a choice with an unknown word";
	*choice = strcmp(word, yes) == 0;
	return NULL;
}

/* A letter each for stdin, stdout and stderr. */
static const char *parse_streams(struct words *words, struct plan *plan)
{
	const char *letters = next_word(words);

	if (!letters || strlen(letters) != 3)
		return "stdio: not three letters";
	for (int i = 0; i < 3; i++) {
		switch (letters[i]) {
		case 'd': plan->streams[i] = STREAM_DIRECT; break;
		case 'f': plan->streams[i] = STREAM_FRAMES; break;
		case 't': plan->streams[i] = STREAM_TERMINAL; break;
		default: return "stdio: unknown letter";
		}
		plan->terminal = plan->terminal || letters[i] == 't';
	}
	return NULL;
}

static const char *parse_path(struct words *words, const char **path)
{
	*path = next_word(words);
	return absolute(*path) ? NULL : "not an absolute, normal path";
}

static const char *parse_rule(struct words *words, struct plan *plan)
{
	struct rule rule;

	if (!parse_access(next_word(words), &rule.access))
		return "allow: unknown access letters";
	const char *wrong = parse_path(words, &rule.path);
	if (wrong)
		return wrong;
	plan->rules = grow(plan->rules, plan->rule_count, sizeof rule);
	plan->rules[plan->rule_count++] = rule;
	return NULL;
}

static const char *parse_listed(struct words *words, const char ***list, size_t *count)
{
	const char *path;
	const char *wrong = parse_path(words, &path);

	if (wrong)
		return wrong;
	*list = grow(*list, *count, sizeof path);
	(*list)[(*count)++] = path;
	return NULL;
}

static const char *parse_program(struct words *words, struct plan *plan)
{
	if (!plan->exec_limited)
		return "program: without `exec only` before it";
	return parse_listed(words, &plan->programs, &plan->program_count);
}

static const char *parse_kept(struct words *words, struct plan *plan)
{
	return parse_listed(words, &plan->kept, &plan->kept_count);
}

static const char *parse_sealed(struct words *words, struct plan *plan)
{
	return parse_listed(words, &plan->sealed, &plan->sealed_count);
}

static const char *parse_hidden(struct words *words, struct plan *plan)
{
	return parse_listed(words, &plan->hidden, &plan->hidden_count);
}

static const char *parse_cwd(struct words *words, struct plan *plan)
{
	return parse_path(words, &plan->cwd);
}

static const char *parse_temporary(struct words *words, struct plan *plan)
{
	return parse_path(words, &plan->scratch);
}

static const char *parse_cgroup(struct words *words, struct plan *plan)
{
	const char *word = next_word(words);

	plan->cgroup = word && strcmp(word, "none") != 0 ? word : NULL;
	return word && (!plan->cgroup || absolute(word)) ? NULL : "cgroup: neither `none` nor an absolute, normal path";
}

static const char *parse_network(struct words *words, struct plan *plan)
{
	const char *word = next_word(words);

	plan->network_all = word && strcmp(word, "all") == 0;
	plan->network_nested = word && strcmp(word, "nested") == 0;
	plan->network_brokered = plan->network_nested || (word && strcmp(word, "broker") == 0);
	return plan->network_all || plan->network_brokered || (word && strcmp(word, "none") == 0)
		       ? NULL
		       : "network: unknown word";
}

static const char *parse_proxy(struct words *words, struct plan *plan)
{
	uint64_t port;

	if (plan->broker.port || !parse_number(next_word(words), &port) || port < 1 || port > UINT16_MAX)
		return "proxy: not a port, or given twice";
	plan->broker.port = (uint16_t)port;
	const char *token = plan->broker.token = next_word(words);
	return token && *token && !token[strspn(token, "0123456789abcdef")] ? NULL : "proxy: not a token";
}

static const char *parse_destination(struct words *words, struct plan *plan)
{
	struct broker_terms *broker = &plan->broker;
	const char *kind = next_word(words), *value = next_word(words), *port = next_word(words);
	struct reach reach;

	if (!port || !parse_reach(kind, value, port, &reach))
		return "reach: not a destination";
	broker->reaches = grow(broker->reaches, broker->reach_count, sizeof reach);
	broker->reaches[broker->reach_count++] = reach;
	return NULL;
}

static const char *parse_exec(struct words *words, struct plan *plan)
{
	return parse_choice(words, "all", "only", &plan->exec_limited);
}

static const char *parse_foreground(struct words *words, struct plan *plan)
{
	return parse_choice(words, "no", "yes", &plan->foreground);
}

static const char *parse_probe(struct words *words, struct plan *plan)
{
	return parse_choice(words, "no", "yes", &plan->probe);
}

static const char *parse_clock(struct words *words, struct plan *plan)
{
	return parse_choice(words, "start", "begin", &plan->begins_later);
}

typedef const char *parse_words(struct words *words, struct plan *plan);

/* Said exactly once: what is left out must not become a default, nor what is said twice the later of the two. */
static const struct {
	const char *name;
	parse_words *parse;
} settings[] = {
	{ "cwd", parse_cwd },
	{ "temporary", parse_temporary },
	{ "cgroup", parse_cgroup },
	{ "network", parse_network },
	{ "exec", parse_exec },
	{ "stdio", parse_streams },
	{ "foreground", parse_foreground },
	{ "probe", parse_probe },
	{ "clock", parse_clock },
};
#define SETTINGS (sizeof settings / sizeof *settings)

static const struct {
	const char *name;
	parse_words *parse;
} statements[] = {
	{ "allow", parse_rule }, { "program", parse_program }, { "limit", parse_limit },
	{ "trap", parse_trap },	 { "proxy", parse_proxy },     { "reach", parse_destination },
	{ "kept", parse_kept },	 { "sealed", parse_sealed },   { "hidden", parse_hidden },
};

static const char *parse_statement(const char *word, struct words *words, struct plan *plan, unsigned *said)
{
	static const struct {
		const char *name;
		enum step_kind kind;
	} steps[] = {
		{ "bind", STEP_BIND }, { "hide", STEP_HIDE },	    { "directory", STEP_DIRECTORY },
		{ "link", STEP_LINK }, { "file", STEP_FILE },	    { "cover", STEP_COVER },
		{ "proc", STEP_PROC }, { "scratch", STEP_SCRATCH }, { "terminals", STEP_TERMINALS },
	};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (strcmp(word, steps[i].name) == 0)
			return parse_step(words, plan, steps[i].kind);
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
		if (strcmp(word, statements[i].name) == 0)
			return statements[i].parse(words, plan);
	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(word, settings[i].name) != 0)
			continue;
		if (*said & 1u << i)
			return "a setting is given twice";
		*said |= 1u << i;
		return settings[i].parse(words, plan);
	}
	return "unknown word";
}

const char *parse_plan(char *bytes, size_t length, struct plan *plan)
{
	struct words words = { bytes, bytes + length };
	const char *word = next_word(&words);
	bool landlock;
	unsigned said = 0; /* settings, a bit each */

	*plan = (struct plan){ 0 };
	if (!word || strcmp(word, "cordon-plan-" CORDON_CELL_VERSION) != 0)
		return "it expects plan version " CORDON_CELL_VERSION;
	word = next_word(&words);
	if (!word || strcmp(word, "form") != 0 || parse_choice(&words, "namespaces", "landlock", &landlock))
		return "the form must come first";
	plan->form = landlock ? FORM_LANDLOCK : FORM_NAMESPACES;
	while ((word = next_word(&words)) && strcmp(word, "end") != 0) {
		const char *wrong = parse_statement(word, &words, plan, &said);
		if (wrong)
			return wrong;
	}
	if (!word)
		return "cut short: no `end`";
	if (words.at != words.end)
		return "words behind `end`";
	if (said != (1u << SETTINGS) - 1 || plan->network_brokered != (plan->broker.port != 0) ||
	    (plan->broker.reach_count && !plan->broker.port))
		return "a setting is missing, or `proxy` and `network` do not belong together";
	/* A keeper of its own would answer otherwise. */
	if (plan->network_nested && (plan->form != FORM_LANDLOCK || plan->traps))
		return "network: `nested` is for the landlock form without traps";
	return NULL;
}

void free_plan(struct plan *plan)
{
	free(plan->steps);
	free(plan->rules);
	free(plan->programs);
	free(plan->kept);
	free(plan->sealed);
	free(plan->hidden);
	free(plan->broker.reaches);
	*plan = (struct plan){ 0 };
}

static char **parse_list(struct words *words, uint64_t count)
{
	char **list = allocate(count + 1, sizeof *list);

	for (uint64_t i = 0; i < count; i++) {
		list[i] = next_word(words);
		if (!list[i]) {
			free(list);
			return NULL;
		}
	}
	return list;
}

/* program, argument count, arguments, variable count, variables */
const char *parse_command(char *bytes, size_t length, struct command *command)
{
	struct words words = { bytes, bytes + length };
	uint64_t count;

	*command = (struct command){ .program = next_word(&words) };
	if (!absolute(command->program))
		return "the program is not an absolute path";
	if (!parse_number(next_word(&words), &count) || count < 1 || count > length)
		return "the argument count is wrong";
	command->argv = parse_list(&words, count);
	if (!command->argv)
		return "arguments are missing";
	if (!parse_number(next_word(&words), &count) || count > length)
		return "the variable count is wrong";
	command->envp = parse_list(&words, count);
	if (!command->envp || words.at != words.end)
		return "variables are missing, or there are words behind them";
	return NULL;
}
