/* The checks of opens and removals that are watched or held here, as BPF; see verdicts.c. */
#include "boundary/filter/open-verdicts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>

/* Opening for reading with O_TRUNC empties a file (as does the mode that is neither reading nor writing). */
void check_truncation(struct program *program, int flags)
{
	load_argument(program, flags);
	emit(program, BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE, 0, 0);
	if_equal_answer(program, O_TRUNC | O_RDONLY, SECCOMP_RET_ERRNO | EPERM);
	if_equal_answer(program, O_TRUNC | O_ACCMODE, SECCOMP_RET_ERRNO | EPERM);
}

/* Many programs that open thousands of files (find, grep -r) do so from folders that they have open: those are let
 * through. */
void check_reading(struct program *program, const struct plan *plan, int folder)
{
	/* What is hidden in a write root, only the keeper tells apart (kept.c). */
	if (plan->traps & TRAP_WRITE && plan->hidden_count)
		answer(program, SECCOMP_RET_USER_NOTIF);
	else if (plan->traps & TRAP_READ && folder >= 0) {
		load_argument(program, folder);
		if_equal_answer(program, (unsigned)AT_FDCWD, SECCOMP_RET_USER_NOTIF);
	} else if (plan->traps & TRAP_READ) {
		answer(program, SECCOMP_RET_USER_NOTIF);
	}
	answer(program, trap_or(plan, TRAP_OPEN, SECCOMP_RET_ALLOW));
}

void check_removal(struct program *program, const struct plan *plan)
{
	load_argument(program, 0);
	if_equal_answer(
		program, (unsigned)AT_FDCWD,
		trap_or(plan, TRAP_CHANGE | TRAP_NAME, plan->kept_count ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW));
	answer(program, trap_or(plan, TRAP_NAME, plan->kept_count ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW));
}
