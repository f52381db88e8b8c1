/*
 * Talks to a service of the host over a Unix socket: docker.sock, ssh-agent,
 * D-Bus, X11. Usage: unix-sockets STREAM DGRAM ABSTRACT ABSTRACT_DGRAM SCRATCH
 * (two paths, two abstract names without the leading NUL, a writable folder).
 * The stream listeners greet with SECRET.
 */
#include "route.h"
#include <sys/socket.h>
#include <sys/un.h>

static const char *stream_path, *datagram_path, *abstract_name, *abstract_datagram, *scratch;

static socklen_t address_of(struct sockaddr_un *address, const char *path, bool is_abstract)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	if (strlen(path) + 2 > sizeof address->sun_path) unable("the socket's path is too long");
	strcpy(address->sun_path + is_abstract, path);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(path) + !is_abstract);
}

static int greeted(int type, const char *path, bool is_abstract)
{
	struct sockaddr_un address;
	socklen_t length = address_of(&address, path, is_abstract);
	int fd = socket(AF_UNIX, type, 0);
	TRY(fd);
	TRY(connect(fd, (struct sockaddr *)&address, length));
	return take_from(fd);
}

static int sent(const char *path, bool is_abstract)
{
	struct sockaddr_un address;
	socklen_t length = address_of(&address, path, is_abstract);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	TRY(fd);
	TRY(sendto(fd, "planted\n", 8, 0, (struct sockaddr *)&address, length));
	return 0;
}

static int by_stream(void) { return greeted(SOCK_STREAM, stream_path, false); }
static int by_abstract(void) { return greeted(SOCK_STREAM, abstract_name, true); }
static int by_datagram(void) { return sent(datagram_path, false); }
static int by_abstract_datagram(void) { return sent(abstract_datagram, true); }
static int by_own_root(void) { return greeted(SOCK_STREAM, path_of("/proc/self/root%s", stream_path), false); }
static int by_first_root(void) { return greeted(SOCK_STREAM, path_of("/proc/1/root%s", stream_path), false); }

static int without_waiting(void)
{
	struct sockaddr_un address;
	socklen_t length = address_of(&address, stream_path, false);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	TRY(fd);
	TRY(connect(fd, (struct sockaddr *)&address, length));
	return 0;
}

static int by_datagram_connect(void)
{
	struct sockaddr_un address;
	socklen_t length = address_of(&address, datagram_path, false);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	TRY(fd);
	TRY(connect(fd, (struct sockaddr *)&address, length));
	TRY(write(fd, "planted\n", 8));
	return 0;
}

static int by_sendmsg(void)
{
	struct sockaddr_un address;
	struct iovec bytes = { "planted\n", 8 };
	struct msghdr message = { .msg_name = &address, .msg_iov = &bytes, .msg_iovlen = 1 };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	TRY(fd);
	message.msg_namelen = address_of(&address, datagram_path, false);
	TRY(sendmsg(fd, &message, 0));
	return 0;
}

static int by_sendmmsg(void)
{
	struct sockaddr_un address;
	struct iovec bytes = { "planted\n", 8 };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &address, .msg_iov = &bytes, .msg_iovlen = 1 } };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	TRY(fd);
	message.msg_hdr.msg_namelen = address_of(&address, datagram_path, false);
	TRY(sendmmsg(fd, &message, 1, 0));
	return 0;
}

/* Both ends of a pair exist before any filter on connect; one may be sent elsewhere. */
static int by_pair_sendto(void)
{
	struct sockaddr_un address;
	socklen_t length = address_of(&address, datagram_path, false);
	int pair[2];
	TRY(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	TRY(sendto(pair[0], "planted\n", 8, 0, (struct sockaddr *)&address, length));
	/* One that its own peer got went nowhere else. */
	char text[8];
	return recv(pair[1], text, sizeof text, MSG_DONTWAIT) == 8 ? NOTHING : 0;
}

static int by_pair_reconnect(void)
{
	struct sockaddr_un address;
	socklen_t length = address_of(&address, datagram_path, false);
	int pair[2];
	TRY(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	TRY(connect(pair[0], (struct sockaddr *)&address, length));
	TRY(write(pair[0], "planted\n", 8));
	return 0;
}

static int by_symlink(void)
{
	char *link = path_of("%s/agent", scratch);
	TRY(symlink(stream_path, link));
	return greeted(SOCK_STREAM, link, false);
}

static int by_hard_link(void)
{
	char *alias = path_of("%s/agent-alias", scratch);
	TRY(link(stream_path, alias));
	return greeted(SOCK_STREAM, alias, false);
}

static int by_relative_path(void)
{
	TRY(chdir(folder_of(stream_path)));
	return greeted(SOCK_STREAM, name_of(stream_path), false);
}

static int by_handle(void)
{
	int handle = open(stream_path, O_PATH);
	TRY(handle);
	return greeted(SOCK_STREAM, path_of("/proc/self/fd/%d", handle), false);
}

static int by_folder_handle(void)
{
	int handle = open(folder_of(stream_path), O_PATH | O_DIRECTORY);
	TRY(handle);
	return greeted(SOCK_STREAM, path_of("/proc/self/fd/%d/%s", handle, name_of(stream_path)), false);
}

static int by_rename(void)
{
	char *moved = path_of("%s/moved", scratch);
	TRY(rename(stream_path, moved));
	int result = greeted(SOCK_STREAM, moved, false);
	rename(moved, stream_path);
	return result;
}

/* The kernel's list of names, abstract ones too. */
static int by_table(void)
{
	static char table[1 << 20];
	int fd = open("/proc/net/unix", O_RDONLY);
	size_t length = 0;
	ssize_t got;
	TRY(fd);
	while ((got = read(fd, table + length, sizeof table - 1 - length)) > 0) length += (size_t)got;
	return strstr(table, abstract_name) ? 0 : NOTHING;
}

int main(int count, char **words)
{
	if (count != 6) return 64;
	stream_path = words[1];
	datagram_path = words[2];
	abstract_name = words[3];
	abstract_datagram = words[4];
	scratch = words[5];
	route("stream", by_stream);
	route("stream-nonblocking", without_waiting);
	route("datagram", by_datagram);
	route("datagram-connect", by_datagram_connect);
	route("sendmsg", by_sendmsg);
	route("sendmmsg", by_sendmmsg);
	route("socketpair-sendto", by_pair_sendto);
	route("socketpair-connect", by_pair_reconnect);
	route("abstract", by_abstract);
	route("abstract-datagram", by_abstract_datagram);
	route("proc-self-root", by_own_root);
	route("proc-1-root", by_first_root);
	route("symlink", by_symlink);
	route("hard-link", by_hard_link);
	route("relative", by_relative_path);
	route("o-path", by_handle);
	route("o-path-folder", by_folder_handle);
	route("rename", by_rename);
	route("proc-net-unix", by_table);
	return 0;
}
