#pragma once

#include "wire/reach.h"

#define DNS_MOST 512 /* bytes of a question or an answer */
#define NAME_ROOM 256

/* Names that were asked for and may be known, each with an address that stands for it in this call. */
struct known_names {
	char (*at)[NAME_ROOM];
	size_t count;
	bool few; /* of a cell inside this one, of which there may be many */
};

/* The name that an address stands for; NULL when it stands for none. */
const char *name_behind(const struct broker_terms *terms, const struct known_names *names, const uint8_t address[16]);
/*
 * 22.18.0.0/15. Programs that refuse private addresses take these for public ones. They are somebody's, so that a call
 * with a grant of one of them gets 198.18.0.0/15 instead, which nobody has: it is set aside for measuring devices
 * (RFC 2544). Connections to either end at the proxy, by the name that the address stands for.
 */
bool is_stand_in_address(const struct broker_terms *terms, const uint8_t address[16]);

/*
 * The answer to one question, or 0 when there is none to give. Nothing is looked
 * up anywhere. `refused` becomes the name that was asked for where no grant
 * covers it, and otherwise empty.
 */
size_t answer_question(const struct broker_terms *terms, struct known_names *names, const uint8_t *question,
		       size_t length, uint8_t answer[DNS_MOST], char refused[NAME_ROOM]);
