/* What the verdicts on sockets check, as BPF. A filter cannot see addresses: they lie behind pointers. */
#include "boundary/filter/socket-verdicts.h"
#include "boundary/landlock.h"
#include "wire/kernel.h"

#include <linux/netlink.h>
#include <netinet/in.h>

#define SOCKET_TYPE 0xf /* SOCK_TYPE_MASK of the kernel: without SOCK_CLOEXEC, SOCK_NONBLOCK */

/*
 * Without a listener nobody judges addresses. Where the tool may reach everything but sockets of the host, connect()
 * passes and Unix sockets do not exist; elsewhere it is refused. The outer keeper judges those of a nested cell.
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
	keep_bits(program, SOCKET_TYPE);
	emit(program, BPF_MISC | BPF_TAX, 0, 0, 0);
	load_argument(program, 0);
	if (connects_unjudged(plan))
		if_equal_answer(program, AF_UNIX, FAIL(EACCES));

	/* AF_UNIX: streams. A datagram could be sent to any reachable socket without connect(). */
	branch(program, AF_UNIX, 0, 4);
	emit(program, BPF_MISC | BPF_TXA, 0, 0, 0);
	branch(program, SOCK_STREAM, 1, 0);
	branch(program, SOCK_SEQPACKET, 0, 1);
	answer(program, PASS);
	load_argument(program, 0);
	if_equal_answer(program, AF_UNIX, FAIL(EPROTONOSUPPORT));

	/* AF_NETLINK: NETLINK_ROUTE, with which libc lists interfaces. */
	branch(program, AF_NETLINK, 0, 4);
	load_argument(program, 2);
	branch(program, NETLINK_ROUTE, 0, 1);
	answer(program, PASS);
	answer(program, FAIL(EPROTONOSUPPORT));

	/* AF_INET, AF_INET6: TCP (not MPTCP, SCTP), and UDP (not ICMP, UDP-Lite) where nothing outside can be reached
	 * by it. */
	branch(program, AF_INET, 2, 0);
	branch(program, AF_INET6, 1, 0);
	answer(program, FAIL(EAFNOSUPPORT));
	emit(program, BPF_MISC | BPF_TXA, 0, 0, 0);
	branch(program, SOCK_STREAM, 0, 4);
	load_argument(program, 2);
	branch(program, 0, 1, 0);
	branch(program, IPPROTO_TCP, 0, 1);
	/* Landlock does not see bind() before ABI 4; without a network there is no use for the socket anyway. */
	answer(program,
	       trap_or(plan, TRAP_SOCKET, !plan->network_all && landlock_is_before(plan, 4) ? FAIL(EACCES) : PASS));
	emit(program, BPF_MISC | BPF_TXA, 0, 0, 0);
	branch(program, SOCK_DGRAM, 0, 4);
	load_argument(program, 2);
	branch(program, 0, 1, 0);
	branch(program, IPPROTO_UDP, 0, 1);
	answer(program, datagrams ? PASS : FAIL(EACCES));
	answer(program, FAIL(EPROTONOSUPPORT));
}

/* Pairs of streams. One end of a pair of datagram sockets could still send to any address: see datagram-pairs.c. */
void check_socket_pair(struct program *program, const struct plan *plan)
{
	load_argument(program, 0);
	branch(program, AF_UNIX, 1, 0);
	answer(program, FAIL(EAFNOSUPPORT));
	load_argument(program, 1);
	keep_bits(program, SOCKET_TYPE);
	if (plan->traps)
		if_equal_answer(program, SOCK_DGRAM, TRAP);
	only_values(program, (unsigned[]){ SOCK_STREAM, SOCK_SEQPACKET }, 2, EPROTONOSUPPORT);
}

void check_send(struct program *program, int flags)
{
	load_argument(program, flags);
	/* It connects without connect(). */
	if_any_bit_answer(program, MSG_FASTOPEN, FAIL(EOPNOTSUPP));
	answer(program, PASS);
}

/*
 * The keeper connects the tool's own sockets to the loopback. One that is bound to another interface, or routed through
 * another host, would send there instead (a network namespace has no other). One that drops its answers would keep the
 * keeper waiting.
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

	for (size_t i = 0; !plan->network_all && i < COUNT_OF(refused); i++) {
		if (plan->form != FORM_LANDLOCK && !refused[i].everywhere)
			continue;
		load_argument(program, 1);
		branch(program, refused[i].level, 0, 3);
		load_argument(program, 2);
		if_equal_answer(program, refused[i].name, FAIL(EPERM));
	}
	answer(program, PASS);
}

unsigned listen_action(const struct plan *plan)
{
	/* In a network namespace of its own nobody else hears of it. With TRAP_SOCKET, internet sockets lead nowhere.
	 */
	if ((plan->form == FORM_NAMESPACES && !plan->network_all) || plan->traps & TRAP_SOCKET)
		return PASS;
	/* Elsewhere listen() on an unbound socket takes a port that Landlock never sees, and names without a file are
	 * the host's. */
	return trap_or(plan, TRAP_CONNECT, plan->network_all ? PASS : FAIL(EACCES));
}

/* Names without a file are taken by bind(), whether or not the socket then listens. */
unsigned bind_action(const struct plan *plan)
{
	bool shares_names = plan->form == FORM_LANDLOCK || plan->network_all;

	return shares_names ? trap_or(plan, TRAP_CONNECT, PASS) : PASS;
}
