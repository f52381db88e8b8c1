/* Where a tool asks for names: datagrams at the loopback of its namespace, and streams. */
#include "keeper/network/questions.h"
#include "keeper/call/notification.h"
#include "wire/memory.h"
#include "wire/report.h"

static size_t answer_and_report(struct questions *questions, const uint8_t *question, size_t length,
				uint8_t answer[DNS_MOST])
{
	char refused[NAME_ROOM], escaped[6 * NAME_ROOM], fields[6 * NAME_ROOM + 32];
	size_t given = answer_question(questions->terms, &questions->names, question, length, answer, refused);
	const struct notification *call =
		&(struct notification){ .supervisor = questions->supervisor, .told = questions->told };

	if (refused[0]) {
		json_escape(escaped, sizeof escaped, refused);
		snprintf(fields, sizeof fields, "\"name\":\"%s\"", escaped);
		report_violation(call, "lookup", fields);
	}
	return given;
}

void answer_datagram(struct questions *questions)
{
	uint8_t question[DNS_MOST + 1], answer[DNS_MOST];
	struct sockaddr_storage from;
	socklen_t size = sizeof from;
	ssize_t length = recvfrom(questions->datagrams, question, sizeof question, MSG_DONTWAIT,
				  (struct sockaddr *)&from, &size);

	if (length <= 0)
		return;
	size_t given = answer_and_report(questions, question, length, answer);
	if (given)
		sendto(questions->datagrams, answer, given, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&from,
		       size);
}

static void end_conversation(struct conversation *conversation)
{
	close(conversation->stream);
	*conversation = (struct conversation){ .stream = -1 };
}

/* Every question and every answer has two bytes of length before it. */
static bool take_question(struct questions *questions, struct conversation *conversation)
{
	size_t wanted = conversation->length < 2 ? 0 : conversation->bytes[0] << 8 | conversation->bytes[1];

	if (conversation->length < 2 || (wanted <= DNS_MOST && conversation->length < 2 + wanted))
		return false;
	uint8_t answer[2 + DNS_MOST];
	size_t given =
		wanted > DNS_MOST ? 0 : answer_and_report(questions, conversation->bytes + 2, wanted, answer + 2);
	answer[0] = (uint8_t)(given >> 8);
	answer[1] = (uint8_t)given;
	/* A tool that does not read its answers gets no more of them. */
	if (!given ||
	    send(conversation->stream, answer, 2 + given, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(2 + given)) {
		end_conversation(conversation);
		return false;
	}
	conversation->length -= 2 + wanted;
	memmove(conversation->bytes, conversation->bytes + 2 + wanted, conversation->length);
	return true;
}

static void hear(struct questions *questions, struct conversation *conversation)
{
	ssize_t got = recv(conversation->stream, conversation->bytes + conversation->length,
			   sizeof conversation->bytes - conversation->length, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		end_conversation(conversation);
		return;
	}
	conversation->length += got;
	while (conversation->stream >= 0 && take_question(questions, conversation))
		;
}

int begin_conversation(struct questions *questions, int flags)
{
	int ends[2];
	struct conversation *chosen = NULL;

	for (size_t i = 0; i < questions->count && !chosen; i++)
		if (questions->conversations[i].stream < 0)
			chosen = &questions->conversations[i];
	if (!chosen && questions->count < MOST_CONVERSATIONS) {
		APPEND(questions->conversations, questions->count, (struct conversation){ .stream = -1 });
		chosen = &questions->conversations[questions->count - 1];
	} else if (!chosen) { /* each in its turn */
		chosen = &questions->conversations[questions->next++ % MOST_CONVERSATIONS];
		end_conversation(chosen);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	if (flags & O_NONBLOCK)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	chosen->stream = ends[0];
	return ends[1];
}

void watch(struct watched *watched, int fd, short events)
{
	APPEND(watched->at, watched->count, (struct pollfd){ .fd = fd, .events = events });
}

void watch_conversations(struct questions *questions, struct watched *watched)
{
	questions->polled = questions->count;
	for (size_t i = 0; i < questions->count; i++)
		watch(watched, questions->conversations[i].stream, POLLIN);
}

const struct pollfd *hear_conversations(struct questions *questions, const struct pollfd *polled)
{
	for (size_t i = 0; i < questions->polled; i++)
		/* It may have been given to another meanwhile. */
		if (polled[i].revents && questions->conversations[i].stream == polled[i].fd)
			hear(questions, &questions->conversations[i]);
	return polled + questions->polled;
}

void begin_questions(struct questions *questions, const struct broker_terms *terms, int supervisor, struct told *told)
{
	*questions = (struct questions){ .terms = terms, .supervisor = supervisor, .told = told, .datagrams = -1 };
}

void end_questions(struct questions *questions)
{
	for (size_t i = 0; i < questions->count; i++)
		if (questions->conversations[i].stream >= 0)
			end_conversation(&questions->conversations[i]);
	free(questions->conversations);
	free(questions->names.at);
}
