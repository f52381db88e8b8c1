/*
 * Fuzz target: whether the configuration of a repository is harmless.
 * needs: watcher/git/config.c wire/memory.c wire/report.c wire/frames.c
 *
 * What is judged harmless is read once more by a reader that understands all
 * that git's documentation describes (quotes, continued lines, several settings
 * in one line, old names of sections): it must find no setting that runs
 * something. The list of those is not git's whole one, but neither does the
 * judge know it: one of each kind is enough to show a way around it.
 */
#include "fuzz/fuzz.h"
#include "watcher/git/config.h"

#include <ctype.h>

struct reader {
	const char *at, *end;
};

/* The next character, with a line break for two that mean one; -1 at the end. */
static int next(struct reader *reader)
{
	if (reader->at == reader->end)
		return -1;
	if (reader->at[0] == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n')
		reader->at++;
	return (unsigned char)*reader->at++;
}

static void put(char *text, size_t room, size_t *length, int c)
{
	if (*length + 1 < room)
		text[(*length)++] = (char)c;
	text[*length] = '\0';
}

/* `name]`, `name.old]` or `name "quoted"]`; the part that is quoted or old does not decide what a setting does. */
static bool read_section_name(struct reader *reader, char *section, size_t room)
{
	size_t length = 0;
	int c;

	section[0] = '\0';
	while ((c = next(reader)) >= 0 && (isalnum(c) || c == '-'))
		put(section, room, &length, c);
	while (c == '.' || (c >= 0 && (isalnum(c) || c == '-')))
		c = next(reader);
	while (c == ' ' || c == '\t')
		c = next(reader);
	if (c == '"') {
		while ((c = next(reader)) != '"') {
			if (c == '\\')
				c = next(reader);
			if (c < 0 || c == '\n')
				return false;
		}
		c = next(reader);
	}
	return c == ']';
}

static bool read_value(struct reader *reader, char *value, size_t room)
{
	bool quoted = false, comment = false;
	size_t length = 0;
	int c;

	while ((c = next(reader)) >= 0 && c != '\n') {
		if (comment)
			continue;
		if (!quoted && (c == '#' || c == ';')) {
			comment = true;
		} else if (c == '"') {
			quoted = !quoted;
		} else if (c == '\\') {
			c = next(reader);
			if (c == '\n')
				continue;
			if (c < 0 || !strchr("tbn\\\"", c))
				return false;
			put(value, room, &length, c);
		} else {
			put(value, room, &length, c);
		}
	}
	return !quoted;
}

static bool runs_something(const char *section, const char *key, const char *value)
{
	static const char *const dangerous[] = {
		"core.fsmonitor",   "core.sshcommand", "core.pager",	    "core.editor",	  "core.hookspath",
		"core.gitproxy",    "core.askpass",    "remote.uploadpack", "remote.receivepack", "remote.vcs",
		"submodule.update", "include.path",    "includeif.path",
	};
	static const char *const sections[] = { "alias", "filter",  "diff",	"merge",    "credential",
						"pager", "gpg",	    "url",	"protocol", "sequence",
						"man",	 "browser", "difftool", "mergetool" };
	char full[600];

	snprintf(full, sizeof full, "%s.%s", section, key);
	for (size_t i = 0; i < COUNT_OF(dangerous); i++)
		if (strcasecmp(full, dangerous[i]) == 0)
			return true;
	for (size_t i = 0; i < COUNT_OF(sections); i++)
		if (strcasecmp(section, sections[i]) == 0)
			return true;
	return (strcasecmp(section, "remote") == 0 || strcasecmp(section, "submodule") == 0) && strstr(value, "::");
}

/* Everything that git would take from the text, until it stops at something that it does not understand. */
static void check_settings(struct reader reader)
{
	char section[256] = "", key[256], value[1024];
	int c;

	while ((c = next(&reader)) >= 0) {
		size_t length = 0;
		if (c == '\n' || isspace(c))
			continue;
		if (c == '#' || c == ';') {
			while ((c = next(&reader)) >= 0 && c != '\n')
				;
			continue;
		}
		if (c == '[') {
			if (!read_section_name(&reader, section, sizeof section))
				return;
			continue;
		}
		if (!isalpha(c))
			return;
		key[0] = value[0] = '\0';
		for (; c >= 0 && (isalnum(c) || c == '-'); c = next(&reader))
			put(key, sizeof key, &length, c);
		while (c == ' ' || c == '\t')
			c = next(&reader);
		if (c != '\n' && c >= 0 && (c != '=' || !read_value(&reader, value, sizeof value)))
			return;
		HOLDS(!runs_something(section, key, value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = exact_copy(data, size, 1);

	if (config_is_harmless(text, size, NULL))
		check_settings((struct reader){ (const char *)data, (const char *)data + size });
	free(text);
	return 0;
}
