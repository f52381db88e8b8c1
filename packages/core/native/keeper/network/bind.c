/*
 * bind(), where names of sockets without a file are shared with the host: one could be taken before its owner comes.
 * (In a network namespace of its own there is nobody to take one from.)
 *
 * The name is judged on a copy, and a child of ours binds the tool's own socket to that copy. For a socket with a file
 * the path is resolved anew then, so the child first gives up the right to make one outside of what the tool may write.
 */
#include "keeper/network/bind.h"
#include "boundary/landlock.h"
#include "keeper/files/kept.h"
#include "keeper/network/address.h"
#include "wire/kernel.h"
#include "wire/open-how.h"

static bool allow_sockets_in(int ruleset, const char *folder)
{
	CLOSE_ON_RETURN int object = open_how(AT_FDCWD, folder, O_PATH, RESOLVE_NO_SYMLINKS);
	struct landlock_path_beneath_attr beneath = { .parent_fd = object,
						      .allowed_access = LANDLOCK_ACCESS_FS_MAKE_SOCK };
	struct stat status;

	if (object < 0 || fstat(object, &status) < 0 || !S_ISDIR(status.st_mode))
		return true; /* gone, or a file: nothing can be made there */
	return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
}

/* What the tool's own rules say about sockets, and write roots in which the keeper acts for it. */
static bool confine_binding(const struct plan *plan)
{
	int abi = landlock_abi();
	struct cordon_ruleset_attr attributes = { .handled_fs = LANDLOCK_ACCESS_FS_MAKE_SOCK };
	size_t size = sizeof attributes.handled_fs;

	/* The mounts, which are ours too, are all that the tool is held by. */
	if (plan->without_landlock)
		return true;
	if (abi >= 4 && plan->form == FORM_LANDLOCK && !plan->network_all) {
		size = offsetof(struct cordon_ruleset_attr, scoped);
		attributes.handled_net = LANDLOCK_ACCESS_NET_BIND_TCP;
	}
	CLOSE_ON_RETURN int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
	bool fits = ruleset >= 0;
	for (size_t i = 0; fits && i < plan->rule_count; i++)
		if (plan->rules[i].access & ACCESS_WRITE)
			fits = allow_sockets_in(ruleset, plan->rules[i].path);
	for (size_t i = 0; fits && i < plan->kept.count; i++)
		fits = allow_sockets_in(ruleset, plan->kept.at[i]);
	return fits && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

static _Noreturn void bind_as_tool(const struct notification *call, int socket, const union address *address,
				   socklen_t length)
{
	CLOSE_ON_RETURN int folder = open_tool_directory(call, AT_FDCWD);

	umask(0777 & ~without_umask(call, 0777));
	bool confined = folder >= 0 && fchdir(folder) == 0 && confine_binding(call->plan);
	respond(call, !confined ? EACCES : bind(socket, &address->any, length) < 0 ? errno : 0);
	_exit(0);
}

/* A name without a file, also one that the kernel would choose. */
static bool has_no_file(const union address *address, socklen_t length)
{
	return address->any.sa_family == AF_UNIX &&
	       (length <= offsetof(struct sockaddr_un, sun_path) || address->local.sun_path[0] == '\0');
}

int answer_bind(const struct notification *call)
{
	union address address = { 0 };
	socklen_t length = unsigned_argument(call, 2);

	if (length < sizeof(sa_family_t) || length > sizeof address.bytes)
		return EINVAL;
	if (!read_tool_memory(call, argument(call, 1), &address, length))
		return EFAULT;
	if (has_no_file(&address, length)) {
		report_address_violation(call, "listen", &address);
		return EACCES;
	}
	CLOSE_ON_RETURN int socket = borrow_descriptor(call, int_argument(call, 0));
	/* Where no socket can be borrowed, listen() is refused, or names can be taken: see SECURITY.md. */
	if (socket < 0)
		return errno == EPERM || errno == ENOSYS ? LET_THROUGH : errno == EBADF ? EBADF : EACCES;
	pid_t child = fork();
	if (child == 0)
		bind_as_tool(call, socket, &address, length);
	return child < 0 ? EAGAIN : ANSWERED;
}
