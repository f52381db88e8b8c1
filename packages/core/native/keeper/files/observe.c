/*
 * Reports opens that the boundary seems to have refused. The kernel decides about them, or opening.c if the keeper
 * opens for the tool. The host then finds out by the policy and its own view of the files whether one was refused.
 */
#include "keeper/files/observe.h"
#include "keeper/files/kept.h"
#include "keeper/files/opening.h"
#include "wire/hash.h"
#include "wire/packets.h"
#include "wire/report.h"

void report_attempt(const struct notification *call, const char *path, enum attempt attempt, bool withheld)
{
	static const char *const names[ATTEMPTS] = {
		[TO_READ] = "read", [TO_WRITE] = "write", [TO_MAKE] = "make", [TO_MAKE_NEW] = "new"
	};
	char line[3900], escaped[3600];
	struct attempts *known = call->attempts;

	/* Programs ask for the same missing files over and over (locales, library paths). */
	if (!still_waiting(call) || !is_first_sight(known->told[attempt], &known->count[attempt], MOST_ATTEMPTS, path))
		return;
	json_escape(escaped, sizeof escaped, path);
	snprintf(line, sizeof line, "{\"event\":\"open\",\"path\":\"%s\",\"access\":\"%s\",\"withheld\":%s}", escaped,
		 names[attempt], withheld ? "true" : "false");
	send_packet(call->supervisor, PACKET_EVENT, 0, line, -1);
}

bool path_for_keeper(const struct notification *call, int at, const char *path, char *into, size_t room)
{
	if (path[0] == '/')
		return snprintf(into, room, "%s", path) < (int)room;
	int process = tool_in_proc(call);
	if (at == AT_FDCWD)
		return snprintf(into, room, "/proc/%d/cwd/%s", process, path) < (int)room;
	return snprintf(into, room, "/proc/%d/fd/%d/%s", process, at, path) < (int)room;
}

static bool absolute_path(const struct notification *call, int at, const char *path, char *into, size_t room)
{
	if (path[0] == '/')
		return snprintf(into, room, "%s", path) < (int)room;
	CLOSE_ON_RETURN int folder = open_tool_directory(call, at);
	char base[PATH_MAX];

	if (folder < 0 || !path_of_descriptor(folder, base, sizeof base))
		return false;
	return snprintf(into, room, "%s/%s", base, path) < (int)room;
}

/* Whether a rule of Landlock, or the keeper (kept.c), gives this right to what the path names, if it names anything. */
static bool is_ruled(const struct plan *plan, const char *path, unsigned access, bool *exists)
{
	char real[PATH_MAX];
	CLOSE_ON_RETURN int object = open(path, O_PATH | O_CLOEXEC);

	*exists = object >= 0 && path_of_descriptor(object, real, sizeof real);
	if (*exists && is_kept(plan, real))
		return access == ACCESS_WRITE ? may_write(plan, real) : may_read(plan, real);
	for (size_t i = 0; *exists && i < plan->rule_count; i++)
		if (plan->rules[i].access & access && is_beneath(real, plan->rules[i].path))
			return true;
	return false;
}

/*
 * With a root of its own the cell lacks what was withheld, and the rest is mounted read-only (EACCES would be an
 * ordinary permission). Elsewhere everything is there, and only the rules say what may be written.
 */
enum holding holding_of(const struct plan *plan, const char *path, unsigned right)
{
	bool exists;

	if (plan->form == FORM_LANDLOCK) {
		if (!is_ruled(plan, path, right, &exists))
			return exists ? HELD : MISSING;
		/* In a container, read-only mounts seal names in a write root. */
		return right == ACCESS_WRITE && access(path, W_OK) < 0 && errno == EROFS ? HELD : FREE;
	}
	if (access(path, right == ACCESS_WRITE ? W_OK : R_OK) == 0)
		return FREE;
	if (errno == EROFS || (right == ACCESS_READ && errno != ENOENT && errno != ENOTDIR))
		return HELD;
	return errno == ENOENT || errno == ENOTDIR ? MISSING : FREE;
}

enum holding holding_of_folder(const struct plan *plan, const char *path)
{
	char folder[2 * PATH_MAX];
	const char *slash = strrchr(path, '/');

	snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	return holding_of(plan, folder, ACCESS_WRITE);
}

static struct opening opening_of(const struct notification *call)
{
	if (call->request->data.nr == SYS_openat)
		return (struct opening){ int_argument(call, 0), argument(call, 1), int_argument(call, 2),
					 unsigned_argument(call, 3) };
#ifdef SYS_creat
	if (call->request->data.nr == SYS_creat)
		return (struct opening){ AT_FDCWD, argument(call, 0), O_CREAT | O_WRONLY | O_TRUNC,
					 unsigned_argument(call, 1) };
#endif
	return (struct opening){ AT_FDCWD, argument(call, 0), int_argument(call, 1), unsigned_argument(call, 2) };
}

static void look_at_opening(const struct notification *call, const struct opening *opening)
{
	const struct plan *plan = call->plan;
	int flags = opening->flags;
	bool changes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
	char path[PATH_MAX], seen[2 * PATH_MAX], absolute[2 * PATH_MAX];
	struct stat status;

	/* A descriptor that grants nothing (O_PATH) is refused by no rule. */
	if ((flags & O_PATH && plan->form == FORM_LANDLOCK) ||
	    (!changes && !(flags & O_CREAT) && !(plan->traps & (TRAP_READ | TRAP_OPEN))))
		return;
	if (!read_tool_string(call, opening->pointer, path, sizeof path) ||
	    !path_for_keeper(call, opening->at, path, seen, sizeof seen))
		return;
	enum holding holding = holding_of(plan, seen, changes ? ACCESS_WRITE : ACCESS_READ);
	enum attempt attempt = changes ? TO_WRITE : TO_READ;
	bool withheld = holding == MISSING;
	if (holding == FREE || (holding == HELD && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)))
		return;
	if (holding == MISSING && flags & O_CREAT) {
		enum holding folder = holding_of_folder(plan, seen);
		if (folder == FREE)
			return;
		attempt = flags & O_EXCL ? TO_MAKE_NEW : TO_MAKE;
		withheld = folder == MISSING;
	}
	/* Nothing is hidden in the `landlock` form: what is missing here is missing. */
	if (withheld && plan->form == FORM_LANDLOCK)
		return;
	if (flags & O_NOFOLLOW && lstat(seen, &status) == 0)
		return;
	if (absolute_path(call, opening->at, path, absolute, sizeof absolute))
		report_attempt(call, absolute, attempt, withheld);
}

int answer_open(const struct notification *call)
{
	struct opening opening = opening_of(call);

	look_at_opening(call, &opening);
	return carry_out_open(call, &opening);
}
