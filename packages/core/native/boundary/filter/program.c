/* A filter as BPF, instruction by instruction. */
#include "boundary/filter/program.h"
#include "wire/report.h"

void emit(struct program *program, unsigned short code, unsigned k, unsigned char yes, unsigned char no)
{
	if (program->length >= PROGRAM_ROOM) {
		errno = E2BIG;
		die("seccomp", "the program is too long");
	}
	program->at[program->length++] = (struct sock_filter){ code, yes, no, k };
}

void answer(struct program *program, unsigned action)
{
	emit(program, BPF_RET | BPF_K, action, 0, 0);
}

void load(struct program *program, unsigned offset)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

/* Arguments that matter here are 32 bits wide in the kernel; the upper half is ignored there too. */
void load_argument(struct program *program, int index)
{
	load(program, ARGUMENT(index));
}

void keep_bits(struct program *program, unsigned bits)
{
	emit(program, BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
}

void branch(struct program *program, unsigned value, unsigned char equal, unsigned char other)
{
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, equal, other);
}

void if_equal_answer(struct program *program, unsigned value, unsigned action)
{
	branch(program, value, 0, 1);
	answer(program, action);
}

void if_any_bit_answer(struct program *program, unsigned bits, unsigned action)
{
	emit(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	answer(program, action);
}

void answer_values(struct program *program, const unsigned *values, size_t count, unsigned action)
{
	for (size_t i = 0; i < count; i++)
		if_equal_answer(program, values[i], action);
}

void only_values(struct program *program, const unsigned *values, size_t count, int otherwise)
{
	answer_values(program, values, count, PASS);
	answer(program, FAIL(otherwise));
}

unsigned trap_or(const struct plan *plan, unsigned trap, unsigned otherwise)
{
	return plan->traps & trap ? TRAP : otherwise;
}
