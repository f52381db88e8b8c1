/* One running call: what is told of it, and how it is killed. */
#include "supervisor/call.h"
#include "processes/descendants.h"
#include "wire/clock.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tell(struct call *call, const char *format, ...)
{
	char line[8192];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (!outbox_put(&call->outbox, FRAME_EVENT, line, length < (int)sizeof line ? length : (int)sizeof line - 1))
		call->host_gone = true;
}

void kill_cell(struct call *call)
{
	if (call->killed)
		return;
	call->killed = true;
	call->killed_at = milliseconds();
	kill_cgroup(call->cgroup);
	if (call->plan->form == FORM_NAMESPACES) {
		kill(call->keeper, SIGKILL);
		return;
	}
	/* Without a pid namespace the keeper outlives the kill, because it is told how the tool ended. It can also do
	 * it itself, where /proc shows us nothing; we do not wait for it, where /proc does. */
	kill(call->keeper, SIGUSR1);
	kill_descendants(call->keeper, NULL, 0);
}
