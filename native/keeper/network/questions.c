/* Where a tool asks for names: datagrams at the loopback of its namespace, and streams. */
#include "keeper/network/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static size_t answer_and_report(struct broker *broker, const uint8_t *question, size_t length, uint8_t answer[DNS_MOST])
{
	char refused[NAME_ROOM], escaped[6 * NAME_ROOM], fields[6 * NAME_ROOM + 32];
	size_t given = answer_question(&broker->plan->broker, &broker->names, question, length, answer, refused);
	const struct notification reporter = { .plan = broker->plan, .supervisor = broker->supervisor, .broker = broker }, *call = &reporter;

	if (refused[0]) {
		json_escape(escaped, sizeof escaped, refused);
		snprintf(fields, sizeof fields, "\"name\":\"%s\"", escaped);
		report_violation(call, "lookup", fields);
	}
	return given;
}

static void answer_datagram(struct broker *broker)
{
	uint8_t question[DNS_MOST + 1], answer[DNS_MOST];
	struct sockaddr_storage from;
	socklen_t size = sizeof from;
	ssize_t length = recvfrom(broker->datagrams, question, sizeof question, MSG_DONTWAIT, (struct sockaddr *)&from, &size);

	if (length <= 0)
		return;
	size_t given = answer_and_report(broker, question, length, answer);
	if (given)
		sendto(broker->datagrams, answer, given, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&from, size);
}

static void end_conversation(struct conversation *conversation)
{
	close(conversation->stream);
	*conversation = (struct conversation){ .stream = -1 };
}

/* Every question and every answer has two bytes of length before it. */
static bool take_question(struct broker *broker, struct conversation *conversation)
{
	size_t wanted = conversation->length < 2 ? 0 : conversation->bytes[0] << 8 | conversation->bytes[1];

	if (conversation->length < 2 || (wanted <= DNS_MOST && conversation->length < 2 + wanted))
		return false;
	uint8_t answer[2 + DNS_MOST];
	size_t given = wanted > DNS_MOST ? 0 : answer_and_report(broker, conversation->bytes + 2, wanted, answer + 2);
	answer[0] = given >> 8;
	answer[1] = given;
	/* A tool that does not read its answers gets no more of them. */
	if (!given || send(conversation->stream, answer, 2 + given, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(2 + given)) {
		end_conversation(conversation);
		return false;
	}
	conversation->length -= 2 + wanted;
	memmove(conversation->bytes, conversation->bytes + 2 + wanted, conversation->length);
	return true;
}

static void hear(struct broker *broker, struct conversation *conversation)
{
	ssize_t got = recv(conversation->stream, conversation->bytes + conversation->length, sizeof conversation->bytes - conversation->length,
			   MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		end_conversation(conversation);
		return;
	}
	conversation->length += got;
	while (conversation->stream >= 0 && take_question(broker, conversation))
		;
}

int begin_conversation(struct broker *broker, int flags)
{
	static unsigned next;
	int ends[2];
	struct conversation *chosen = NULL;

	for (size_t i = 0; i < MOST_CONVERSATIONS && !chosen; i++)
		if (broker->conversations[i].stream < 0)
			chosen = &broker->conversations[i];
	if (!chosen) { /* the oldest has had its time */
		chosen = &broker->conversations[next++ % MOST_CONVERSATIONS];
		end_conversation(chosen);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	if (flags & O_NONBLOCK)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	chosen->stream = ends[0];
	return ends[1];
}

size_t watch_questions(const struct broker *broker, struct pollfd *polled)
{
	polled[0] = (struct pollfd){ .fd = broker->datagrams, .events = POLLIN };
	polled[1] = (struct pollfd){ .fd = broker->door, .events = POLLIN };
	for (size_t i = 0; i < MOST_CONVERSATIONS; i++)
		polled[2 + i] = (struct pollfd){ .fd = broker->conversations[i].stream, .events = POLLIN };
	return BROKER_DESCRIPTORS;
}

void hear_questions(struct broker *broker, const struct pollfd *polled, size_t count)
{
	for (size_t i = 0; i < count; i++)
		/* It may have been given to another meanwhile. */
		if (polled[i].revents && broker->conversations[i].stream == polled[i].fd)
			hear(broker, &broker->conversations[i]);
}

void answer_questions(struct broker *broker, const struct pollfd *polled, size_t count)
{
	if (polled[0].revents)
		answer_datagram(broker);
	if (polled[1].revents)
		turn_strangers_away(broker);
	hear_questions(broker, polled + 2, count - 2);
}
