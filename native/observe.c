/*
 * --observe: which opens were refused. Watching only: the kernel decides (or opening.c,
 * where the keeper opens for the tool), and the host works out from the policy and its own
 * view of the files whether a path that is missing here was withheld.
 */
#include "cell.h"
#include "kernel.h"
#include "notify.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED 8192

/* Programs ask for the same missing files over and over (locales, library paths). */
static bool first_time(const char *path, bool writes)
{
	static uint64_t seen[REMEMBERED];
	uint64_t hash = 1469598103934665603u + writes;

	for (const char *c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	uint64_t *slot = &seen[hash % REMEMBERED];
	if (*slot == hash)
		return false;
	*slot = hash;
	return true;
}

static bool absolute_path(const struct notification *call, int at, const char *path, char *into, size_t room)
{
	if (path[0] == '/')
		return snprintf(into, room, "%s", path) < (int)room;
	CLOSE_ON_RETURN int folder = open_tool_directory(call, at);
	char base[4096];

	if (folder < 0 || !path_of_descriptor(folder, base, sizeof base))
		return false;
	return snprintf(into, room, "%s/%s", base, path) < (int)room;
}

/*
 * With a root of its own the cell lacks what was withheld. Elsewhere everything
 * is there, and only the rules say what may be read.
 */
static bool is_withheld(const struct plan *plan, const char *path)
{
	char real[4096];

	if (plan->form == FORM_NAMESPACES)
		return access(path, R_OK) < 0;
	CLOSE_ON_RETURN int object = open(path, O_PATH | O_CLOEXEC);
	if (object < 0 || !path_of_descriptor(object, real, sizeof real))
		return false;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].access & ACCESS_READ && is_beneath(real, plan->rules[i].path))
			return false;
	return true;
}

/* What is to be made in a folder that is not in the cell cannot have been made in the private one. */
static bool lacks_folder(const struct plan *plan, const char *path)
{
	char folder[8192];
	const char *slash = strrchr(path, '/');

	if (plan->form != FORM_NAMESPACES || slash == path)
		return false;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
	return access(folder, F_OK) < 0;
}

void report_open(const struct notification *call, const char *path, bool writes, bool withheld)
{
	char line[3900], escaped[3600];

	if (!first_time(path, writes))
		return;
	json_escape(escaped, sizeof escaped, path);
	snprintf(line, sizeof line, "{\"event\":\"open\",\"path\":\"%s\",\"access\":\"%s\",\"withheld\":%s}", escaped,
		 writes ? "write" : "read", withheld ? "true" : "false");
	send_packet(call->supervisor, PACKET_EVENT, 0, line, -1);
}

static struct opening opening_of(const struct notification *call)
{
	const __u64 *arguments = call->request->data.args;

	switch (call->request->data.nr) {
#ifdef SYS_open
	case SYS_open:
		return (struct opening){ AT_FDCWD, arguments[0], arguments[1], arguments[2] };
	case SYS_creat:
		return (struct opening){ AT_FDCWD, arguments[0], O_CREAT | O_WRONLY | O_TRUNC, arguments[1] };
#endif
	default:
		return (struct opening){ arguments[0], arguments[1], arguments[2], arguments[3] };
	}
}

static void observe(const struct notification *call, const struct opening *opening)
{
	char path[4096], absolute[8192];
	bool writes = (opening->flags & O_ACCMODE) != O_RDONLY || opening->flags & (O_CREAT | O_TRUNC);

	if (read_tool_string(call, opening->pointer, path, sizeof path) && absolute_path(call, opening->at, path, absolute, sizeof absolute) &&
	    (writes || is_withheld(call->plan, absolute)))
		report_open(call, absolute, writes, !writes || lacks_folder(call->plan, absolute));
}

void answer_open(const struct notification *call)
{
	struct opening opening = opening_of(call);

	if (call->plan->traps & TRAP_OPEN)
		observe(call, &opening);
	if (!carry_out_open(call, &opening))
		let_through(call);
}
