/*
 * Reaches the network without a grant. Usage: sockets TCP_PORT UDP_PORT
 * Both are listeners of the host on 127.0.0.1 and ::1; nothing else is ever
 * addressed. For families that have no listener, getting the socket is enough.
 */
#include "route.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static in_port_t tcp_port, udp_port;

static struct sockaddr_in loopback(in_port_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static struct sockaddr_in6 loopback6(in_port_t port)
{
	return (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
}

static int connect_to(int fd, const void *address, socklen_t length)
{
	if (fd < 0) return errno;
	TRY(connect(fd, address, length));
	TRY(write(fd, "planted\n", 8));
	return 0;
}

static int tcp_with(int type, int protocol)
{
	struct sockaddr_in address = loopback(tcp_port);
	return connect_to(socket(AF_INET, SOCK_STREAM | type, protocol), &address, sizeof address);
}

static int by_tcp(void) { return tcp_with(0, 0); }
static int by_explicit_tcp(void) { return tcp_with(SOCK_CLOEXEC, IPPROTO_TCP); }
static int by_mptcp(void) { return tcp_with(0, IPPROTO_MPTCP); }

static int by_tcp6(void)
{
	struct sockaddr_in6 address = loopback6(tcp_port);
	return connect_to(socket(AF_INET6, SOCK_STREAM, 0), &address, sizeof address);
}

static int by_mapped_address(void)
{
	struct sockaddr_in6 address = loopback6(tcp_port);
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
	return connect_to(socket(AF_INET6, SOCK_STREAM, 0), &address, sizeof address);
}

static int by_any_address(void)
{
	struct sockaddr_in address = loopback(tcp_port);
	address.sin_addr.s_addr = 0;
	return connect_to(socket(AF_INET, SOCK_STREAM, 0), &address, sizeof address);
}

static int by_mptcp6(void)
{
	struct sockaddr_in6 address = loopback6(tcp_port);
	return connect_to(socket(AF_INET6, SOCK_STREAM, IPPROTO_MPTCP), &address, sizeof address);
}

static int without_waiting(void)
{
	struct sockaddr_in address = loopback(tcp_port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
	socklen_t length = sizeof error;
	TRY(fd);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) return errno;
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	TRY(poll(&wait, 1, 2000));
	TRY(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length));
	if (error) return error;
	TRY(send(fd, "planted\n", 8, MSG_NOSIGNAL));
	return 0;
}

/* TCP fast open sends without any connect(). */
static int fast_open(void)
{
	struct sockaddr_in address = loopback(tcp_port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	TRY(fd);
	TRY(sendto(fd, "planted\n", 8, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof address));
	return 0;
}

static int fast_open_message(void)
{
	struct sockaddr_in6 address = loopback6(tcp_port);
	struct iovec bytes = { "planted\n", 8 };
	struct msghdr message = { .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &bytes, .msg_iovlen = 1 };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	TRY(fd);
	TRY(sendmsg(fd, &message, MSG_FASTOPEN | MSG_NOSIGNAL));
	return 0;
}

static int fast_open_connect(void)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = loopback(tcp_port);
	TRY(fd);
	TRY(setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on));
	return connect_to(fd, &address, sizeof address);
}

static int by_udp(void)
{
	struct sockaddr_in address = loopback(udp_port);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	TRY(fd);
	TRY(sendto(fd, "planted\n", 8, 0, (struct sockaddr *)&address, sizeof address));
	return 0;
}

static int by_udp_connect(void)
{
	struct sockaddr_in address = loopback(udp_port);
	return connect_to(socket(AF_INET, SOCK_DGRAM, 0), &address, sizeof address);
}

static int by_udp6(void)
{
	struct sockaddr_in6 address = loopback6(udp_port);
	return connect_to(socket(AF_INET6, SOCK_DGRAM, 0), &address, sizeof address);
}

static int by_sendmmsg(void)
{
	struct sockaddr_in address = loopback(udp_port);
	struct iovec bytes = { "planted\n", 8 };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &bytes, .msg_iovlen = 1 } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	TRY(fd);
	TRY(sendmmsg(fd, &message, 1, 0));
	return 0;
}

static int by_udplite(void)
{
	struct sockaddr_in address = loopback(udp_port);
	return connect_to(socket(AF_INET, SOCK_DGRAM, 136), &address, sizeof address);
}

/* Enough to know the host's interfaces: the index of one that is not `lo`. */
static int by_interface_list(void)
{
	struct ifconf list = {0};
	static char room[8192];
	int fd = socket(AF_INET, SOCK_DGRAM, 0), others = 0;
	TRY(fd);
	list.ifc_len = sizeof room;
	list.ifc_buf = room;
	TRY(ioctl(fd, SIOCGIFCONF, &list));
	for (int i = 0; i < list.ifc_len / (int)sizeof(struct ifreq); i++) others += strcmp(list.ifc_req[i].ifr_name, "lo") != 0;
	note("%d interfaces", others);
	return others ? 0 : NOTHING;
}

/* The table of the host's sockets tells who talks to whom. */
static int in_table(const char *path)
{
	static char table[1 << 20];
	char port[8];
	int fd = open(path, O_RDONLY);
	size_t length = 0;
	ssize_t got;
	TRY(fd);
	while ((got = read(fd, table + length, sizeof table - 1 - length)) > 0) length += (size_t)got;
	snprintf(port, sizeof port, ":%04X", ntohs(tcp_port));
	return strstr(table, port) ? 0 : NOTHING;
}

static int by_table(void) { return in_table("/proc/net/tcp"); }
static int by_own_table(void) { return in_table("/proc/self/net/tcp"); }
static int by_task_table(void) { return in_table("/proc/thread-self/net/tcp"); }
static int by_first_table(void) { return in_table("/proc/1/net/tcp"); }

static struct { const char *name; int family, type, protocol; } const sockets[] = {
	{ "raw-icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP }, { "raw-tcp", AF_INET, SOCK_RAW, IPPROTO_TCP },
	{ "raw-any", AF_INET, SOCK_RAW, IPPROTO_RAW }, { "raw6-icmp", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6 },
	{ "ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP }, { "ping6", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6 },
	{ "sctp", AF_INET, SOCK_STREAM, IPPROTO_SCTP }, { "sctp-seqpacket", AF_INET6, SOCK_SEQPACKET, IPPROTO_SCTP },
	{ "dccp", AF_INET, 6, 33 }, { "l2tp", AF_INET, SOCK_DGRAM, 115 }, { "smc", 43, SOCK_STREAM, 0 },
	{ "smc-inet", AF_INET, SOCK_STREAM, 256 }, { "packet-raw", AF_PACKET, SOCK_RAW, 0x0300 },
	{ "packet-dgram", AF_PACKET, SOCK_DGRAM, 0x0300 }, { "inet-packet", AF_INET, SOCK_PACKET, 0x0300 },
	{ "alg", AF_ALG, SOCK_SEQPACKET, 0 }, { "vsock", AF_VSOCK, SOCK_STREAM, 0 }, { "vsock-dgram", AF_VSOCK, SOCK_DGRAM, 0 },
	{ "xdp", 44, SOCK_RAW, 0 }, { "key", AF_KEY, SOCK_RAW, 2 }, { "tipc", AF_TIPC, SOCK_STREAM, 0 }, { "rds", AF_RDS, SOCK_SEQPACKET, 0 },
	{ "can", AF_CAN, SOCK_RAW, 1 }, { "bluetooth", AF_BLUETOOTH, SOCK_RAW, 1 }, { "nfc", AF_NFC, SOCK_SEQPACKET, 0 },
	{ "kcm", AF_KCM, SOCK_DGRAM, 0 }, { "qrtr", 42, SOCK_DGRAM, 0 }, { "rxrpc", AF_RXRPC, SOCK_DGRAM, AF_INET },
	{ "pppox", AF_PPPOX, SOCK_STREAM, 0 }, { "llc", AF_LLC, SOCK_STREAM, 0 }, { "appletalk", AF_APPLETALK, SOCK_DGRAM, 0 },
	{ "ax25", AF_AX25, SOCK_DGRAM, 0 }, { "x25", AF_X25, SOCK_SEQPACKET, 0 }, { "mctp", 45, SOCK_DGRAM, 0 },
	{ "ieee802154", AF_IEEE802154, SOCK_RAW, 0 }, { "netlink-sock-diag", AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG },
	{ "netlink-xfrm", AF_NETLINK, SOCK_RAW, NETLINK_XFRM }, { "netlink-audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT },
	{ "netlink-netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER }, { "netlink-uevent", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT },
	{ "netlink-generic", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC }, { "netlink-connector", AF_NETLINK, SOCK_DGRAM, NETLINK_CONNECTOR },
	{ "netlink-crypto", AF_NETLINK, SOCK_RAW, NETLINK_CRYPTO }, { "netlink-selinux", AF_NETLINK, SOCK_RAW, NETLINK_SELINUX },
	{ "netlink-iscsi", AF_NETLINK, SOCK_RAW, NETLINK_ISCSI }, { "netlink-rdma", AF_NETLINK, SOCK_RAW, NETLINK_RDMA },
	{ "netlink-fib", AF_NETLINK, SOCK_RAW, NETLINK_FIB_LOOKUP }, { "netlink-usersock", AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK },
};

static size_t chosen;

static int get_socket(void)
{
	TRY(socket(sockets[chosen].family, sockets[chosen].type, sockets[chosen].protocol));
	return 0;
}

int main(int count, char **words)
{
	if (count != 3) return 64;
	tcp_port = htons((uint16_t)strtol(words[1], NULL, 10));
	udp_port = htons((uint16_t)strtol(words[2], NULL, 10));
	route("tcp", by_tcp);
	route("tcp-explicit", by_explicit_tcp);
	route("tcp6", by_tcp6);
	route("tcp-mapped", by_mapped_address);
	route("tcp-any-address", by_any_address);
	route("tcp-nonblocking", without_waiting);
	route("mptcp", by_mptcp);
	route("mptcp6", by_mptcp6);
	route("fastopen-sendto", fast_open);
	route("fastopen-sendmsg6", fast_open_message);
	route("fastopen-connect", fast_open_connect);
	route("udp", by_udp);
	route("udp-connect", by_udp_connect);
	route("udp6", by_udp6);
	route("udp-sendmmsg", by_sendmmsg);
	route("udplite", by_udplite);
	route("interfaces", by_interface_list);
	route("proc-net-tcp", by_table);
	route("proc-self-net-tcp", by_own_table);
	route("proc-thread-net-tcp", by_task_table);
	route("proc-1-net-tcp", by_first_table);
	for (chosen = 0; chosen < sizeof sockets / sizeof *sockets; chosen++) route(sockets[chosen].name, get_socket);
	return 0;
}
