/*
 * connect() and listen(), carried out for the tool on its own socket.
 *
 * Internet addresses: everything inside an empty network namespace (only loopback exists there), nothing in the
 * landlock form, anything with `network all`; where hosts are granted, broker.c decides. Unix sockets: only those that
 * belong to this call. A socket of the host may lie in a granted folder, and neither a read-only mount nor Landlock (up
 * to ABI 7) keeps anybody from connecting to it. A process of a cell inside this one is judged by what that cell may
 * reach (nested.c).
 */
#include "keeper/network/connect.h"
#include "keeper/network/nested.h"
#include "keeper/network/sockets.h"
#include "keeper/network/stand-in.h"

/* By file system, not by path: folders of the host may be bound beneath the private /tmp. */
static bool in_private_folder(const struct plan *plan, int object, const char *path)
{
	struct stat file, folder;

	/* A second name of one of the host's sockets is not one that the call made. */
	return is_beneath(path, plan->scratch) && fstat(object, &file) == 0 && file.st_nlink == 1 &&
	       stat(plan->scratch, &folder) == 0 && file.st_dev == folder.st_dev;
}

/* A socket file in the call's private folder, or one whose socket a process of the call holds. */
static bool belongs_to_call(const struct plan *plan, int object)
{
	char path[PATH_MAX];

	if (!path_of_descriptor(object, path, sizeof path))
		return false;
	return in_private_folder(plan, object, path) || is_own_socket(object);
}

/* Rewrites the address to the very object that was judged. Returns 0 or an error. */
static int judge_unix(const struct notification *call, union address *address, socklen_t *length, int *object)
{
	const struct plan *plan = call->plan;
	char path[sizeof address->local.sun_path + 1] = "";
	socklen_t name = *length - (socklen_t)offsetof(struct sockaddr_un, sun_path);

	if (name == 0 || *length > sizeof address->local)
		return EINVAL;
	if (address->local.sun_path[0] == '\0') {
		/* Abstract names live in the network namespace: ours alone, or everybody's. */
		return plan->form == FORM_NAMESPACES && !plan->network_all ? 0 : EPERM;
	}
	memcpy(path, address->local.sun_path, name);
	*object = open_tool_path(call, AT_FDCWD, path, 0);
	if (*object < 0)
		return errno;
	if (!belongs_to_call(plan, *object))
		return EACCES;
	snprintf(address->local.sun_path, sizeof address->local.sun_path, "/proc/self/fd/%d", *object);
	*length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address->local.sun_path) + 1);
	return 0;
}

static int judge(const struct notification *call, union address *address, socklen_t *length, int *object)
{
	switch (address->any.sa_family) {
	case AF_UNIX: return judge_unix(call, address, length, object);
	case AF_INET:
	case AF_INET6:
		if (*length < (address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6))
			return EINVAL;
		if (call->plan->network_all)
			return 0;
		if (call->plan->form == FORM_NAMESPACES && is_loopback(address))
			return 0;
		return ENETUNREACH;
	case AF_UNSPEC: /* dissolves an association */
	case AF_NETLINK: return 0;
	default: return EAFNOSUPPORT;
	}
}

static int refuse_connection(const struct notification *call, const union address *address, int error)
{
	report_address_violation(call, "connect", address);
	return error;
}

static bool is_internet(const union address *address)
{
	return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6;
}

/* Granted hosts are all that a cell inside this one has of the network, and it has no Unix sockets. */
static int answer_nested(const struct notification *call, struct nested *cell, const union address *address,
			 socklen_t length)
{
	struct notification inside = *call;

	inside.plan = &cell->plan;
	inside.broker = &cell->broker;
	inside.supervisor = cell->broker.questions.supervisor;
	inside.told = &cell->told;
	return is_internet(address) ? answer_brokered(&inside, address, length)
				    : refuse_connection(&inside, address, EACCES);
}

int answer_connect(const struct notification *call)
{
	union address address = { 0 };
	socklen_t length = unsigned_argument(call, 2);
	CLOSE_ON_RETURN int object = -1;
	struct nested *nested;
	struct stand_in ours;

	if (length > sizeof address.bytes)
		return answer_request(call, length);
	if (length < sizeof(sa_family_t))
		return EINVAL;
	if (!read_tool_memory(call, argument(call, 1), &address, length))
		return EFAULT;
	switch (whose_call(call, &nested)) {
	case OF_NESTED: return answer_nested(call, nested, &address, length);
	case OF_STRANGER: return refuse_connection(call, &address, ENETUNREACH);
	case OF_CELL: break;
	}
	if (is_internet(&address) && call->broker)
		return answer_brokered(call, &address, length);
	int refusal = judge(call, &address, &length, &object);
	if (refusal == EACCES || refusal == EPERM || refusal == ENETUNREACH)
		return refuse_connection(call, &address, refusal);
	if (refusal)
		return refusal;
	int problem = take_socket(call, &ours);
	CLOSE_ON_RETURN int socket = ours.socket;
	return problem ? problem : connect_as_asked(call, &ours, &address, length);
}

/* Without a network namespace, names without a file are shared with the host: one could be taken before its owner. */
static bool may_listen(const struct plan *plan, const union address *address, socklen_t length)
{
	if (address->any.sa_family == AF_UNIX)
		return length <= offsetof(struct sockaddr_un, sun_path) || address->local.sun_path[0] != '\0';
	return plan->network_all;
}

int answer_listen(const struct notification *call)
{
	CLOSE_ON_RETURN int socket = borrow_descriptor(call, int_argument(call, 0));
	union address address = { 0 };
	socklen_t length = sizeof address;

	/* Containers may refuse to let us look at it. Where the network is granted, only a name could be taken. */
	if (socket < 0 && call->plan->network_all)
		return LET_THROUGH;
	if (socket < 0 || getsockname(socket, &address.any, &length) < 0)
		return EACCES;
	if (!may_listen(call->plan, &address, length)) {
		report_address_violation(call, "listen", &address);
		return EACCES;
	}
	/* The kernel refuses a socket without a name. It could get an abstract one in this moment if we asked. */
	if (address.any.sa_family == AF_UNIX && length <= offsetof(struct sockaddr_un, sun_path))
		return EINVAL;
	return listen(socket, int_argument(call, 1)) < 0 ? errno : 0;
}
