/* execve() where the programs are limited. */
#include "keeper/executing.h"
#include "keeper/call/violations.h"
#include "wire/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/*
 * Landlock decides which files may be executed. One thing it cannot tell apart:
 * the dynamic loader must be executable for the kernel to use it, and would then
 * run any program that it is given as an argument. That is refused here. (Whoever
 * can race this look with a second thread runs native code already, and needs no
 * loader to run more.)
 */
void answer_execute(const struct notification *call)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (!read_tool_string(call, call->request->data.args[0], path, sizeof path)) {
		respond(call, 0, EFAULT);
		return;
	}
	CLOSE_ON_RETURN int object = open_tool_path(call, AT_FDCWD, path, 0);
	if (object < 0) {
		respond(call, 0, errno);
		return;
	}
	if (path_of_descriptor(object, real, sizeof real))
		for (size_t i = 0; i < call->plan->program_count; i++)
			if (strcmp(real, call->plan->programs[i]) == 0) {
				let_through(call);
				return;
			}
	report_path_violation(call, "exec", path);
	respond(call, 0, EACCES);
}
