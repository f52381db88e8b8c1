#pragma once

#include "wire/plan.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

/* What the filter answers. */
#define PASS SECCOMP_RET_ALLOW
#define TRAP SECCOMP_RET_USER_NOTIF /* the keeper decides */
#define FAIL(error) (SECCOMP_RET_ERRNO | (error))

#define PROGRAM_ROOM 2048

struct program {
	struct sock_filter at[PROGRAM_ROOM];
	unsigned short length;
};

void emit(struct program *program, unsigned short code, unsigned k, unsigned char yes, unsigned char no);
void answer(struct program *program, unsigned action);
/* Where an argument lies in what a filter sees. */
#define ARGUMENT(index) ((unsigned)(offsetof(struct seccomp_data, args) + sizeof(__u64) * (unsigned)(index)))
void load(struct program *program, unsigned offset);
void load_argument(struct program *program, int index);
void keep_bits(struct program *program, unsigned bits);
/* Jumps over so many instructions where what was loaded is equal, or over so many where it is not. */
void branch(struct program *program, unsigned value, unsigned char equal, unsigned char other);
void if_any_bit_answer(struct program *program, unsigned bits, unsigned action);
void if_equal_answer(struct program *program, unsigned value, unsigned action);
void answer_values(struct program *program, const unsigned *values, size_t count, unsigned action);
void only_values(struct program *program, const unsigned *values, size_t count, int otherwise);
unsigned trap_or(const struct plan *plan, unsigned trap, unsigned otherwise);
