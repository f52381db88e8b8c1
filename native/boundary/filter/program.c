/* A filter as BPF, instruction by instruction. */
#include "boundary/filter/program.h"
#include "wire/report.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>

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

void answer_error(struct program *program, int error)
{
	answer(program, SECCOMP_RET_ERRNO | error);
}

/* Arguments that matter here are 32 bits wide in the kernel; the upper half is ignored there too. */
void load_argument(struct program *program, int index)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, ARGUMENT(index), 0, 0);
}

void if_equal_answer(struct program *program, unsigned value, unsigned action)
{
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(program, action);
}

void if_any_bit_answer(struct program *program, unsigned bits, unsigned action)
{
	emit(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	answer(program, action);
}

void only_values(struct program *program, const unsigned *values, size_t count, int otherwise)
{
	for (size_t i = 0; i < count; i++)
		if_equal_answer(program, values[i], SECCOMP_RET_ALLOW);
	answer_error(program, otherwise);
}

unsigned trap_or(const struct plan *plan, unsigned trap, unsigned otherwise)
{
	return plan->traps & trap ? SECCOMP_RET_USER_NOTIF : otherwise;
}
