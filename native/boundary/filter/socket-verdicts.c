/* What the verdicts on sockets check, as BPF. Addresses lie behind pointers and cannot be seen here. */
#include "boundary/filter/socket-verdicts.h"
#include "boundary/landlock.h"
#include "wire/kernel.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define SOCKET_TYPE 0xf /* SOCK_TYPE_MASK of the kernel: without SOCK_CLOEXEC, SOCK_NONBLOCK */

/*
 * Without a listener nobody judges addresses. Where everything but sockets of the
 * host is the tool's to reach, connect() is let through and Unix sockets do not
 * exist; elsewhere it is refused. Of a nested cell the outer keeper judges them.
 */
bool connects_unjudged(const struct plan *plan)
{
	return !(plan->traps & TRAP_CONNECT) &&
	       (plan->form == FORM_NAMESPACES || plan->network_all || plan->network_nested);
}

void check_socket(struct program *program, const struct plan *plan)
{
	bool datagrams = plan->form == FORM_NAMESPACES || plan->network_all;

	load_argument(program, 1);
	emit(program, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE, 0, 0);
	emit(program, BPF_MISC | BPF_TAX, 0, 0, 0);
	load_argument(program, 0);
	if (connects_unjudged(plan))
		if_equal_answer(program, AF_UNIX, SECCOMP_RET_ERRNO | EACCES);

	/* AF_UNIX: streams. A datagram could be sent to any reachable socket without connect(). */
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 4);
	emit(program, BPF_MISC | BPF_TXA, 0, 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET, 0, 1);
	answer(program, SECCOMP_RET_ALLOW);
	load_argument(program, 0);
	if_equal_answer(program, AF_UNIX, SECCOMP_RET_ERRNO | EPROTONOSUPPORT);

	/* AF_NETLINK: NETLINK_ROUTE, with which libc lists interfaces. */
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4);
	load_argument(program, 2);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, NETLINK_ROUTE, 0, 1);
	answer(program, SECCOMP_RET_ALLOW);
	answer_error(program, EPROTONOSUPPORT);

	/* AF_INET, AF_INET6: TCP (not MPTCP, SCTP), and UDP (not ICMP, UDP-Lite) where nothing outside can be reached
	 * by it. */
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
	answer_error(program, EAFNOSUPPORT);
	emit(program, BPF_MISC | BPF_TXA, 0, 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 0, 4);
	load_argument(program, 2);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 1);
	/* Landlock does not see bind() before ABI 4; without a network there is no use for the socket anyway. */
	answer(program, trap_or(plan, TRAP_SOCKET,
				!plan->network_all && landlock_is_before(plan, 4) ? SECCOMP_RET_ERRNO | EACCES
										  : SECCOMP_RET_ALLOW));
	emit(program, BPF_MISC | BPF_TXA, 0, 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 0, 4);
	load_argument(program, 2);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 1);
	answer(program, datagrams ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EACCES);
	answer_error(program, EPROTONOSUPPORT);
}

/* Pairs of streams. One end of a pair of datagram sockets could still send to any address: see datagram-pairs.c. */
void check_socket_pair(struct program *program, const struct plan *plan)
{
	load_argument(program, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
	answer_error(program, EAFNOSUPPORT);
	load_argument(program, 1);
	emit(program, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE, 0, 0);
	if (plan->traps)
		if_equal_answer(program, SOCK_DGRAM, SECCOMP_RET_USER_NOTIF);
	only_values(program, (unsigned[]){ SOCK_STREAM, SOCK_SEQPACKET }, 2, EPROTONOSUPPORT);
}

void check_send(struct program *program, int flags)
{
	load_argument(program, flags);
	/* It connects without connect(). */
	if_any_bit_answer(program, MSG_FASTOPEN, SECCOMP_RET_ERRNO | EOPNOTSUPP);
	answer(program, SECCOMP_RET_ALLOW);
}

/*
 * The keeper connects the tool's own sockets to the loopback. One that is bound to
 * another interface, or routed by way of another host, would send to that instead
 * (without a network namespace, in which there is no other). One that drops what it
 * is answered would keep the keeper waiting.
 */
void check_option(struct program *program, const struct plan *plan)
{
	static const struct {
		unsigned level, name;
		bool everywhere;
	} refused[] = {
		{ SOL_SOCKET, SO_BINDTODEVICE, false }, { SOL_SOCKET, SO_BINDTOIFINDEX, false },
		{ IPPROTO_IP, IP_OPTIONS, false },	{ IPPROTO_IP, IP_UNICAST_IF, false },
		{ IPPROTO_IP, IP_MINTTL, true },	{ IPPROTO_IPV6, IPV6_MINHOPCOUNT, true },
		{ SOL_SOCKET, SO_ATTACH_FILTER, true }, { SOL_SOCKET, SO_ATTACH_BPF, true },
		{ IPPROTO_TCP, TCP_MD5SIG, true },	{ IPPROTO_TCP, TCP_MD5SIG_EXT, true },
		{ IPPROTO_TCP, TCP_AO_ADD_KEY, true },
	};

	for (size_t i = 0; !plan->network_all && i < sizeof refused / sizeof *refused; i++) {
		if (plan->form != FORM_LANDLOCK && !refused[i].everywhere)
			continue;
		load_argument(program, 1);
		emit(program, BPF_JMP | BPF_JEQ | BPF_K, refused[i].level, 0, 3);
		load_argument(program, 2);
		if_equal_answer(program, refused[i].name, SECCOMP_RET_ERRNO | EPERM);
	}
	answer(program, SECCOMP_RET_ALLOW);
}

unsigned listen_action(const struct plan *plan)
{
	/* In a network namespace of its own nobody else hears of it; and where no socket can be looked at, those of the
	 * internet lead nowhere. */
	if ((plan->form == FORM_NAMESPACES && !plan->network_all) || plan->traps & TRAP_SOCKET)
		return SECCOMP_RET_ALLOW;
	/* Elsewhere listen() on an unbound socket takes a port that Landlock never sees, and names without a file are
	 * the host's. */
	return trap_or(plan, TRAP_CONNECT, plan->network_all ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EACCES);
}

/* Names without a file are taken by bind(), whether or not the socket then listens. */
unsigned bind_action(const struct plan *plan)
{
	bool shares_names = plan->form == FORM_LANDLOCK || plan->network_all;

	return shares_names ? trap_or(plan, TRAP_CONNECT, SECCOMP_RET_ALLOW) : SECCOMP_RET_ALLOW;
}
