/*
 * connect(), carried out on the tool's own socket, borrowed by pidfd_getfd, or on one that takes its place.
 *
 * Containers refuse pidfd_getfd. There a socket of ours, of the same kind and with the same file flags, is connected
 * and then put in place of the tool's. That loses options set before connect(), a source address, and an earlier
 * registration with epoll.
 */
#include "keeper/network/stand-in.h"
#include "processes/proc.h"

#include <netinet/tcp.h>
#include <sys/xattr.h>

/* As sockets are called in the attribute by which the kernel names their protocol. */
static const struct kind {
	const char *name;
	int family, type;
} kinds[] = {
	{ "TCP", AF_INET, SOCK_STREAM },
	{ "TCPv6", AF_INET6, SOCK_STREAM },
	{ "UDP", AF_INET, SOCK_DGRAM },
	{ "UDPv6", AF_INET6, SOCK_DGRAM },
	/* Before Linux 5.15 streams were called UNIX, too; connect() then tells by EPROTOTYPE. */
	{ "UNIX-STREAM", AF_UNIX, SOCK_STREAM },
	{ "UNIX", AF_UNIX, SOCK_SEQPACKET },
};

static const struct kind *kind_of(const char *path)
{
	char name[64] = "";

	if (getxattr(path, "system.sockprotoname", name, sizeof name - 1) <= 0)
		return NULL;
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* O_NONBLOCK and O_CLOEXEC of the tool's descriptor; -1 when it has none of that number. */
static int flags_of(int process, int descriptor)
{
	char text[1024];

	read_proc(text, sizeof text, "/proc/%d/fdinfo/%d", process, descriptor);
	const char *line = strstr(text, "flags:");
	return line ? (int)strtol(line + 6, NULL, 8) & (O_NONBLOCK | O_CLOEXEC) : -1;
}

/*
 * A stream that was connected once must not be connected again: the tool may only be asking how far it is. The kernel
 * lists it, by its number, as soon as it is.
 */
static int state_of_stream(int process, const struct kind *kind, const char *path)
{
	char link[64] = "", list[64], line[512];
	unsigned long number, inode;
	unsigned state;
	int found = 0;

	if (kind->family == AF_UNIX || kind->type != SOCK_STREAM)
		return 0;
	if (readlink(path, link, sizeof link - 1) < 0 || sscanf(link, "socket:[%lu]", &number) != 1)
		return EBADF;
	snprintf(list, sizeof list, "/proc/%d/net/%s", process, kind->family == AF_INET ? "tcp" : "tcp6");
	FILE *sockets = fopen(list, "re");
	while (sockets && !found && fgets(line, sizeof line, sockets))
		if (sscanf(line, "%*d: %*s %*s %x %*s %*s %*s %*d %*d %lu", &state, &inode) == 2 && inode == number)
			found = state == TCP_SYN_SENT ? EALREADY : EISCONN;
	if (sockets)
		fclose(sockets);
	return found;
}

/* Returns 0, or the error that connect() on the tool's socket has. */
static int make_stand_in(const struct notification *call, struct stand_in *made)
{
	int process = tool_in_proc(call), descriptor = int_argument(call, 0);
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
	*made = (struct stand_in){ .socket = -1, .descriptor = descriptor, .flags = flags_of(process, descriptor) };
	const struct kind *kind = kind_of(path);
	if (!still_waiting(call))
		return ESRCH;
	if (made->flags < 0)
		return EBADF;
	if (!kind)
		return errno == ENODATA || errno == EOPNOTSUPP ? ENOTSOCK : EACCES;
	int state = state_of_stream(process, kind, path);
	if (state)
		return state;
	made->is_seqpacket = kind->type == SOCK_SEQPACKET;
	made->socket =
		socket(kind->family, kind->type | SOCK_CLOEXEC | (made->flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0);
	return made->socket < 0 ? errno : 0;
}

static int connect_stand_in(const struct stand_in *made, const struct sockaddr *address, socklen_t length)
{
	int error = connect(made->socket, address, length) < 0 ? errno : 0;

	if (error == EPROTOTYPE && made->is_seqpacket) {
		int stream =
			socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (made->flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0);
		if (stream >= 0 && dup3(stream, made->socket, O_CLOEXEC) >= 0)
			error = connect(made->socket, address, length) < 0 ? errno : 0;
		close(stream);
	}
	return error;
}

bool put_in_place(const struct notification *call, const struct stand_in *made)
{
	return add_descriptor(call, made->socket, SECCOMP_ADDFD_FLAG_SETFD, made->descriptor, made->flags) >= 0;
}

/*
 * socket() of the internet families, where its listen() could not be judged either: the tool gets a Unix socket
 * instead. Connecting it to an internet address is trapped, refused and reported as always; it can listen nowhere.
 */
int answer_socket(const struct notification *call)
{
	int type = int_argument(call, 1);
	CLOSE_ON_RETURN int ours = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (type & SOCK_NONBLOCK), 0);

	return ours < 0 ? EACCES : hand_over(call, ours, type);
}

/*
 * The tool shares its sockets' flags and options with us, and can make any of them wait for as long as it likes. So we
 * interrupt that; repeatedly, because the first signal may come in the moment before.
 */
int connect_in_time(int socket, const struct sockaddr *address, socklen_t length)
{
	interrupt_after(SOON * 1000, 50000);
	int error = connect(socket, address, length) < 0 ? errno : 0;
	interrupt_after(0, 0);
	return error;
}

static int connect_one(const struct notification *call, const struct stand_in *ours, const union address *address,
		       socklen_t length, bool may_wait)
{
	bool borrowed = ours->descriptor < 0;
	int error = !borrowed  ? connect_stand_in(ours, &address->any, length)
		    : may_wait ? (connect(ours->socket, &address->any, length) < 0 ? errno : 0)
			       : connect_in_time(ours->socket, &address->any, length);

	if (!borrowed && (error == 0 || error == EINPROGRESS) && !put_in_place(call, ours))
		error = EACCES;
	return error;
}

int take_socket(const struct notification *call, struct stand_in *ours)
{
	*ours = (struct stand_in){ .socket = borrow_descriptor(call, int_argument(call, 0)), .descriptor = -1 };
	if (ours->socket >= 0) {
		ours->flags = fcntl(ours->socket, F_GETFL);
		return 0;
	}
	if (errno == EPERM || errno == ENOSYS)
		return make_stand_in(call, ours);
	return errno == EBADF ? EBADF : EACCES;
}

int connect_as_asked(const struct notification *call, const struct stand_in *ours, const union address *address,
		     socklen_t length)
{
	if (ours->flags & O_NONBLOCK)
		return connect_one(call, ours, address, length, false);
	/* It may take long, and other threads of the tool must not wait for it: a child of ours does it. */
	pid_t child = fork();
	if (child == 0) {
		respond(call, connect_one(call, ours, address, length, true));
		_exit(0);
	}
	return child < 0 ? EAGAIN : ANSWERED;
}
