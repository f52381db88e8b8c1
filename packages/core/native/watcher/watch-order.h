#pragma once

#include "watcher/territory/names.h"
#include "watcher/territory/territory.h"

struct watch_order {
	unsigned long number;
	struct territory *territory;
	uint64_t since; /* what was found in later turns appeared during the call */
	uint64_t made, lost; /* of several_names, when it began */
	size_t linked_files_before; /* the length of linked_files, when it began */
	bool running; /* before that, nothing that happens is the tool's doing */
	char **words; /* of the policy: exemptions and carve-outs */
	size_t word_count;
	struct watch_order *next;
};

void add_word(struct watch_order *order, const char *word);
/* Named by the policy itself. */
bool is_exempt(const struct watch_order *order, const char *path);
/* Carved out by the policy before it existed. */
bool is_carved_out(const struct watch_order *order, const char *path);
/* Something that is carved out lies in the folder at this path, or would lie there. */
bool has_carve_out_in(const struct watch_order *order, const char *path);
/* A link that the policy carves out. */
bool is_carved_link(const struct watch_order *order, const char *path);
/* Without what it leads to. */
bool is_carved_alone(const struct watch_order *order, const char *path);
/* There before the call, and no link: sealed in its cell. The tool cannot have replaced it. */
bool was_sealed(const struct watch_order *order, const char *path);
/* In a folder that is sealed for this call, or in which the tool can make nothing. */
bool is_out_of_reach(const struct watch_order *order, const char *path);
bool is_sealed_object(const struct watch_order *order, const char *path);
/* The very object that was sealed for this call under another name: its user moved it. */
bool was_sealed_elsewhere(const struct watch_order *order, const struct found *found);
/* Whether something that is sealed for this call is at this path, or in the folder there. */
bool has_seal_in(const struct watch_order *order, const char *path);
/* Protected, and to be removed at once. (A new repository is looked at when the call has ended.) */
bool must_not_appear(const struct names *names, const struct watch_order *order, const char *path, char kind);
/* As far as its mounts go. */
bool may_have_made(const struct watch_order *order, const char *path);
/* A link that was there before the call, protected or on the way from one that is. */
bool is_guarded_link(const struct watch_order *order, const char *path);
