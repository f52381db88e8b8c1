/*
 * Landlock: the second, independent guard of the same paths, and the only one of executing. The mounts form is for
 * kernels without it.
 */
#include "boundary/landlock.h"
#include "wire/kernel.h"
#include "wire/open-how.h"
#include "wire/report.h"

#define FS(right) LANDLOCK_ACCESS_FS_##right
#define READ_RIGHTS (FS(READ_FILE) | FS(READ_DIR))
#define WRITE_RIGHTS                                                                                       \
	(FS(WRITE_FILE) | FS(REMOVE_DIR) | FS(REMOVE_FILE) | FS(MAKE_DIR) | FS(MAKE_REG) | FS(MAKE_SOCK) | \
	 FS(MAKE_FIFO) | FS(MAKE_SYM) | FS(REFER) | FS(TRUNCATE))
#define FILE_RIGHTS (FS(EXECUTE) | FS(WRITE_FILE) | FS(READ_FILE) | FS(TRUNCATE) | FS(IOCTL_DEV))

int landlock_abi(void)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : abi;
}

static uint64_t handled_rights(int abi)
{
	return (FS(REFER) - 1) | (abi >= 2 ? FS(REFER) : 0) | (abi >= 3 ? FS(TRUNCATE) : 0) |
	       (abi >= 5 ? FS(IOCTL_DEV) : 0);
}

/*
 * Moving and linking between folders. Without mounts a socket of the host could be moved into the call's private
 * folder, where every socket counts as its own. The kernel moves nothing to where it would have more rights, so the
 * plan gives that folder one that no write root has: ioctl on devices, of which none can be made there. Before that
 * right existed (ABI 5) nothing is moved between folders at all.
 */
static uint64_t rights_to_grant(const struct plan *plan, int abi)
{
	uint64_t handled = handled_rights(abi);

	return plan->form == FORM_LANDLOCK && abi < 5 ? handled & ~FS(REFER) : handled;
}

static void add_object(int ruleset, int object, unsigned access, uint64_t granted, const char *name)
{
	struct stat status;

	if (object < 0 || fstat(object, &status) < 0)
		die("landlock", name);

	uint64_t rights = (access & ACCESS_READ ? READ_RIGHTS : 0) | (access & ACCESS_WRITE ? WRITE_RIGHTS : 0) |
			  (access & ACCESS_LIST ? FS(READ_DIR) : 0) | (access & ACCESS_EXECUTE ? FS(EXECUTE) : 0) |
			  (access & ACCESS_DEVICE ? FS(IOCTL_DEV) : 0);
	struct landlock_path_beneath_attr beneath = {
		.parent_fd = object,
		.allowed_access = rights & granted & (S_ISDIR(status.st_mode) ? ~0ull : FILE_RIGHTS),
	};
	if (beneath.allowed_access &&
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0)
		die("landlock", name);
}

static void add_rule(int ruleset, const struct rule *rule, uint64_t granted, struct applied *applied)
{
	/* The host resolved the path: a symbolic link in it was planted since, to move the grant. Only /proc has links
	 * of its own, which lead to the tool itself. A volume of an image may lie there, with other links. */
	bool in_proc = strncmp(rule->path, "/proc/", 6) == 0;
	CLOSE_ON_RETURN int object = in_proc ? open(rule->path, O_PATH | O_CLOEXEC)
					     : open_how(AT_FDCWD, rule->path, O_PATH, RESOLVE_NO_SYMLINKS);

	if (in_proc && object >= 0 && !is_of_proc(object)) {
		errno = EINVAL;
		die("landlock", rule->path);
	}
	add_object(ruleset, object, rule->access, granted, rule->path);
	note_applied(applied, 'a', rule->access, rule->path);
}

void apply_landlock(const struct plan *plan, int terminal, struct applied *applied)
{
	int abi = landlock_abi();

	if (abi < 1)
		die("landlock", "the kernel has no Landlock");

	struct cordon_ruleset_attr attributes = { .handled_fs = handled_rights(abi) };
	uint64_t granted = rights_to_grant(plan, abi);
	size_t size = sizeof attributes.handled_fs;
	if (abi >= 4) {
		size = offsetof(struct cordon_ruleset_attr, scoped);
		/* With a network namespace, TCP inside it is the tool's own affair. */
		if (plan->form == FORM_LANDLOCK && !plan->network_all)
			attributes.handled_net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
	}
	if (abi >= 6) {
		size = sizeof attributes;
		attributes.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
	}

	CLOSE_ON_RETURN int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
	if (ruleset < 0)
		die("landlock", "cannot create a ruleset");
	for (size_t i = 0; i < plan->rule_count; i++)
		add_rule(ruleset, &plan->rules[i], granted, applied);
	/* Its name is known only now, and beside it lie the terminals of others. */
	if (terminal >= 0)
		add_object(ruleset, terminal, ACCESS_READ | ACCESS_WRITE | ACCESS_DEVICE, granted, "terminal");
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		die("landlock", "cannot restrict the cell");
}

bool enclose_signals(void)
{
	/* A ruleset that says nothing of moving between folders forbids it, for all that come after. */
	struct cordon_ruleset_attr attributes = { .handled_fs = FS(REFER), .scoped = LANDLOCK_SCOPE_SIGNAL };
	CLOSE_ON_RETURN int everywhere = open("/", O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr moving = { .parent_fd = everywhere, .allowed_access = FS(REFER) };
	pid_t outside = getppid();

	if (landlock_abi() < 6 || kill(outside, 0) < 0)
		return false;
	CLOSE_ON_RETURN int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
	if (ruleset < 0 || syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &moving, 0) < 0)
		return false;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return false;
	/* Tried, not believed: the caller then kills everything that it can reach. */
	return kill(outside, 0) < 0 && errno == EPERM;
}

bool landlock_is_before(const struct plan *plan, int abi)
{
	return plan->form == FORM_LANDLOCK && landlock_abi() < abi;
}
