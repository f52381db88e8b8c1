/*
 * Names, answered by the keeper itself. A granted name gets an address that
 * stands for it in this call; what is meant by it is known again at connect().
 * Nothing is looked up, so that no name ever leaves the cell: the proxy does
 * that, for what it lets pass.
 */
#include "keeper/network/dns.h"
#include "wire/memory.h"

#include <ctype.h>

#define HEADER 12
#define MOST_NAMES 4096
#define FEW_NAMES 512
#define NAME_LENGTH 253

enum { NO_ERROR = 0, FORMAT_ERROR = 1, SERVER_FAILURE = 2, NO_SUCH_NAME = 3, NOT_IMPLEMENTED = 4, REFUSED = 5 };
/* Bits of the third byte of a header, and of the fourth. */
enum { IS_ANSWER = 0x80, OPERATION = 0x78, IS_AUTHORITATIVE = 0x04, WANTS_RECURSION = 0x01, HAS_RECURSION = 0x80 };
enum { TYPE_A = 1, TYPE_OPTIONS = 41, CLASS_INTERNET = 1 };

static const uint8_t public_block[16] = { [10] = 0xff, [11] = 0xff, [12] = 22, [13] = 18 };
static const uint8_t nobodys_block[16] = { [10] = 0xff, [11] = 0xff, [12] = 198, [13] = 18 };
#define BLOCK_BITS (96 + 15)

/* A granted address must lead to where it says, and to no name. */
static const uint8_t *stand_in_block(const struct broker_terms *terms)
{
	return reaches_into(terms, public_block, BLOCK_BITS) ? nobodys_block : public_block;
}

bool is_stand_in_address(const struct broker_terms *terms, const uint8_t address[16])
{
	return memcmp(address, stand_in_block(terms), 13) == 0 && (address[13] & 0xfe) == 18;
}

const char *name_behind(const struct broker_terms *terms, const struct known_names *names, const uint8_t address[16])
{
	if (!is_stand_in_address(terms, address) || address[13] != 18)
		return NULL;
	size_t number = address[14] << 8 | address[15];
	return number >= 1 && number <= names->count ? names->at[number - 1] : NULL;
}

/* From 1; 0 when there are too many. */
static size_t number_of(struct known_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->at[i], name) == 0)
			return i + 1;
	if (names->count == (names->few ? FEW_NAMES : MOST_NAMES))
		return 0;
	names->at = grow(names->at, names->count, sizeof *names->at);
	strcpy(names->at[names->count++], name);
	return names->count;
}

static unsigned number_at(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

struct question {
	char name[NAME_ROOM]; /* in lower case */
	unsigned type, class;
	size_t end; /* of the question's bytes */
	bool plain; /* letters, digits, - and _ alone, as host names have them */
};

/* Labels one after the other; one that refers to another place has no business in a question. */
static bool read_name(const uint8_t *bytes, size_t length, size_t *at, struct question *into)
{
	size_t used = 0;

	into->plain = true;
	while (*at < length && bytes[*at] != 0) {
		size_t label = bytes[*at];
		if (label > 63 || *at + 1 + label >= length || used + label + 1 > NAME_LENGTH + 1)
			return false;
		if (used > 0)
			into->name[used++] = '.';
		for (const uint8_t *c = bytes + *at + 1, *end = c + label; c < end; c++) {
			into->plain = into->plain && (isalnum(*c) || *c == '-' || *c == '_');
			/* What is shown of an odd one must not read like another name. */
			into->name[used++] = *c > 0x20 && *c < 0x7f && *c != '.' ? (char)tolower(*c) : '?';
		}
		*at += 1 + label;
	}
	into->name[used] = '\0';
	into->plain = into->plain && used > 0;
	return (*at)++ < length && used <= NAME_LENGTH;
}

/* One question, and behind it nothing but what a resolver says about itself (EDNS). */
static bool read_question(const uint8_t *bytes, size_t length, struct question *into)
{
	size_t at = HEADER;

	if (number_at(bytes + 4) != 1 || number_at(bytes + 6) || number_at(bytes + 8) || number_at(bytes + 10) > 1)
		return false;
	if (!read_name(bytes, length, &at, into) || length - at < 4)
		return false;
	into->type = number_at(bytes + at);
	into->class = number_at(bytes + at + 2);
	into->end = at + 4;
	if (number_at(bytes + 10) == 0)
		return into->end == length;
	const uint8_t *options = bytes + into->end;
	size_t left = length - into->end;
	return left >= 11 && options[0] == 0 && number_at(options + 1) == TYPE_OPTIONS &&
	       left == 11u + number_at(options + 9);
}

static size_t put_header(uint8_t *answer, const uint8_t *question, uint8_t code, uint8_t questions, uint8_t answers)
{
	memset(answer, 0, HEADER);
	memcpy(answer, question, 2);
	/* By who decides; whether more was wanted is repeated. */
	answer[2] = (uint8_t)(IS_ANSWER | IS_AUTHORITATIVE | (question[2] & WANTS_RECURSION));
	answer[3] = (uint8_t)(HAS_RECURSION | code);
	answer[5] = questions;
	answer[7] = answers;
	return HEADER;
}

static size_t put_address(uint8_t *at, const uint8_t *block, size_t number)
{
	const uint8_t record[16] = { 0xc0,
				     HEADER,
				     0,
				     TYPE_A,
				     0,
				     CLASS_INTERNET,
				     0,
				     0,
				     0,
				     60,
				     0,
				     4,
				     block[12],
				     block[13],
				     (uint8_t)(number >> 8),
				     (uint8_t)number };

	memcpy(at, record, sizeof record);
	return sizeof record;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length >= tail && strcmp(name + length - tail, end) == 0;
}

size_t answer_question(const struct broker_terms *terms, struct known_names *names, const uint8_t *bytes, size_t length,
		       uint8_t answer[DNS_MOST], char refused[NAME_ROOM])
{
	struct question question;

	refused[0] = '\0';
	/* Too short, too long, or itself an answer. */
	if (length < HEADER || length > DNS_MOST || bytes[2] & IS_ANSWER)
		return 0;
	if (bytes[2] & OPERATION)
		return put_header(answer, bytes, NOT_IMPLEMENTED, 0, 0);
	if (!read_question(bytes, length, &question))
		return put_header(answer, bytes, FORMAT_ERROR, 0, 0);
	bool known = question.plain && question.class == CLASS_INTERNET && reaches_name(terms, question.name, 0);
	if (!known && !ends_in(question.name, ".arpa")) /* names of addresses are asked for by the way */
		strcpy(refused, question.name);
	size_t number = known && question.type == TYPE_A ? number_of(names, question.name) : 0;
	bool full = known && question.type == TYPE_A && number == 0;
	size_t at = put_header(answer, bytes,
			       full    ? SERVER_FAILURE
			       : known ? NO_ERROR
				       : NO_SUCH_NAME,
			       1, number ? 1 : 0);
	memcpy(answer + at, bytes + HEADER, question.end - HEADER);
	at = question.end;
	return number ? at + put_address(answer + at, stand_in_block(terms), number) : at;
}
