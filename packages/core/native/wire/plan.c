/*
 * The plan: the boundary as NUL-separated words, compiled by the host from a permit. It is trusted input, but a plan
 * that is cut short or misspelt must never become a weaker boundary. Every word is checked, and the last one is `end`.
 */
#include "wire/plan.h"
#include "wire/memory.h"
#include "wire/words.h"

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
	APPEND(plan->steps, plan->step_count, step);
	return NULL;
}

/* Each at most once. 0 is no limit. */
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
	for (size_t i = 0; i < COUNT_OF(names); i++) {
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

	for (size_t i = 0; name && i < COUNT_OF(names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		plan->traps |= names[i].trap;
		return NULL;
	}
	return "trap: unknown name";
}

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
	if (!wrong)
		APPEND(plan->rules, plan->rule_count, rule);
	return wrong;
}

static const char *parse_listed(struct words *words, struct path_list *list)
{
	const char *path, *wrong = parse_path(words, &path);

	if (!wrong)
		APPEND(list->at, list->count, path);
	return wrong;
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
	plan->network_proxied = word && strcmp(word, "proxied") == 0;
	plan->network_brokered = plan->network_nested || plan->network_proxied || (word && strcmp(word, "broker") == 0);
	return plan->network_all || plan->network_brokered || (word && strcmp(word, "none") == 0)
		       ? NULL
		       : "network: unknown word";
}

static const char *parse_proxy(struct words *words, struct plan *plan)
{
	if (plan->broker.port || !parse_port(next_word(words), &plan->broker.port))
		return "proxy: not a port, or given twice";
	const char *token = plan->broker.token = next_word(words);
	return token && *token && !token[strspn(token, "0123456789abcdef")] ? NULL : "proxy: not a token";
}

static const char *parse_destination(struct words *words, struct plan *plan)
{
	const char *kind = next_word(words), *value = next_word(words), *port = next_word(words);
	struct reach reach;

	if (!port || !parse_reach(kind, value, port, &reach))
		return "reach: not a destination";
	APPEND(plan->broker.reaches, plan->broker.reach_count, reach);
	return NULL;
}

typedef const char *parse_words(struct words *words, struct plan *plan);

/* Said exactly once: what is left out must not become a default, nor what is said twice the later of the two. */
static const struct {
	const char *name;
	parse_words *parse; /* or NULL: a path, or with `yes` a choice, stored `at` this place of the plan */
	size_t at;
	const char *no, *yes;
} settings[] = {
	{ "cgroup", parse_cgroup, 0, NULL, NULL },
	{ "network", parse_network, 0, NULL, NULL },
	{ "stdio", parse_streams, 0, NULL, NULL },
	{ "cwd", NULL, offsetof(struct plan, cwd), NULL, NULL },
	{ "temporary", NULL, offsetof(struct plan, scratch), NULL, NULL },
	{ "exec", NULL, offsetof(struct plan, exec_limited), "all", "only" },
	{ "foreground", NULL, offsetof(struct plan, foreground), "no", "yes" },
	{ "probe", NULL, offsetof(struct plan, probe), "no", "yes" },
	{ "clock", NULL, offsetof(struct plan, begins_later), "start", "begin" },
	{ "delivery", NULL, offsetof(struct plan, delivers_at_once), "gathered", "prompt" },
};

static const char *parse_setting(struct words *words, struct plan *plan, size_t which)
{
	void *place = (char *)plan + settings[which].at;

	if (settings[which].parse)
		return settings[which].parse(words, plan);
	return settings[which].yes ? parse_choice(words, settings[which].no, settings[which].yes, place)
				   : parse_path(words, place);
}

static const struct {
	const char *name;
	parse_words *parse; /* or NULL: a path for the list `at` this place of the plan */
	size_t at;
} statements[] = {
	{ "allow", parse_rule, 0 },
	{ "limit", parse_limit, 0 },
	{ "trap", parse_trap, 0 },
	{ "proxy", parse_proxy, 0 },
	{ "reach", parse_destination, 0 },
	{ "kept", NULL, offsetof(struct plan, kept) },
	{ "sealed", NULL, offsetof(struct plan, sealed) },
	{ "hidden", NULL, offsetof(struct plan, hidden) },
	{ "program", NULL, offsetof(struct plan, programs) },
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

	for (size_t i = 0; i < COUNT_OF(steps); i++)
		if (strcmp(word, steps[i].name) == 0)
			return parse_step(words, plan, steps[i].kind);
	for (size_t i = 0; i < COUNT_OF(statements); i++) {
		if (strcmp(word, statements[i].name) != 0)
			continue;
		struct path_list *list = (void *)((char *)plan + statements[i].at);
		if (list == &plan->programs && !plan->exec_limited)
			return "program: without `exec only` before it";
		return statements[i].parse ? statements[i].parse(words, plan) : parse_listed(words, list);
	}
	for (size_t i = 0; i < COUNT_OF(settings); i++) {
		if (strcmp(word, settings[i].name) != 0)
			continue;
		if (*said & 1u << i)
			return "a setting is given twice";
		*said |= 1u << i;
		return parse_setting(words, plan, i);
	}
	return "unknown word";
}

static bool parse_form(const char *word, struct plan *plan)
{
	plan->form = word && strcmp(word, "landlock") == 0 ? FORM_LANDLOCK : FORM_NAMESPACES;
	plan->without_landlock = word && strcmp(word, "mounts") == 0;
	return word && (plan->without_landlock || plan->form == FORM_LANDLOCK || strcmp(word, "namespaces") == 0);
}

const char *parse_plan(char *bytes, size_t length, struct plan *plan)
{
	struct words words = { bytes, bytes + length };
	const char *word = next_word(&words);
	unsigned said = 0; /* settings, a bit each */

	*plan = (struct plan){ 0 };
	if (!word || strcmp(word, "cordon-plan-" CORDON_CELL_VERSION) != 0)
		return "it expects plan version " CORDON_CELL_VERSION;
	word = next_word(&words);
	if (!word || strcmp(word, "form") != 0 || !parse_form(next_word(&words), plan))
		return "the form must come first";
	while ((word = next_word(&words)) && strcmp(word, "end") != 0) {
		const char *wrong = parse_statement(word, &words, plan, &said);
		if (wrong)
			return wrong;
	}
	if (!word)
		return "cut short: no `end`";
	if (words.at != words.end)
		return "words behind `end`";
	if (said != (1u << COUNT_OF(settings)) - 1 || plan->network_brokered != (plan->broker.port != 0) ||
	    (plan->broker.reach_count && !plan->broker.port))
		return "a setting is missing, or `proxy` and `network` do not belong together";
	/* The keeper of the outer cell answers there. */
	if (plan->network_nested && (plan->form != FORM_LANDLOCK || plan->traps))
		return "network: `nested` is for the landlock form without traps";
	/* Elsewhere the loopback has other users, or connect() is answered. */
	if (plan->network_proxied && (!plan->without_landlock || plan->traps))
		return "network: `proxied` is for the mounts form without traps";
	if (plan->without_landlock && plan->rule_count)
		return "allow: the mounts form has no rules";
	return NULL;
}

void free_plan(struct plan *plan)
{
	free(plan->steps);
	free(plan->rules);
	free(plan->programs.at);
	free(plan->kept.at);
	free(plan->sealed.at);
	free(plan->hidden.at);
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
