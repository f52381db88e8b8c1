/* A filter as BPF, instruction by instruction. */
#pragma once

#include "wire/plan.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define PROGRAM_ROOM 2048

struct program {
	struct sock_filter at[PROGRAM_ROOM];
	unsigned short length;
};

void emit(struct program *program, unsigned short code, unsigned k, unsigned char yes, unsigned char no);
void answer(struct program *program, unsigned action);
void answer_error(struct program *program, int error);
void if_any_bit_answer(struct program *program, unsigned bits, unsigned action);
void if_equal_answer(struct program *program, unsigned value, unsigned action);
void only_values(struct program *program, const unsigned *values, size_t count, int otherwise);
/* Where an argument lies in what a filter sees. */
#define ARGUMENT(index) ((unsigned)(offsetof(struct seccomp_data, args) + sizeof(__u64) * (unsigned)(index)))
void load_argument(struct program *program, int index);
unsigned trap_or(const struct plan *plan, unsigned trap, unsigned otherwise);
