/* What the processes of the cell tell the supervisor; of a cell inside another one, also the outer keeper. */
#include "supervisor/hear.h"
#include "processes/descendants.h"
#include "processes/proc.h"
#include "supervisor/limits.h"
#include "wire/packets.h"

static int take(int *descriptor)
{
	int taken = *descriptor;

	*descriptor = -1;
	return taken;
}

/* As the kernel shows it to us, who are outside of the cell. */
static const char *network_of(pid_t tool)
{
	char path[64];
	struct stat own, other;

	/* Another cell's /proc has other numbers. */
	snprintf(path, sizeof path, "/proc/%d/ns/net", tool);
	if (own_pid_in_proc() != getpid() || stat("/proc/self/ns/net", &own) < 0 || stat(path, &other) < 0)
		return "unknown";
	return own.st_dev == other.st_dev && own.st_ino == other.st_ino ? "shared" : "own";
}

static void tell_applied(struct call *call, const struct packet *packet)
{
	unsigned mounts = 0, rules = 0, sum = 0;
	int filtered = 0, unprivileged = 0;
	unsigned long files = 0, size = 0, cpu = 0;
	bool measurable = !call->plan->probe || measure_descendants(own_pid_in_proc()).tasks;

	sscanf(packet->text, "%u %u %u %d %d %lu %lu %lu", &mounts, &rules, &sum, &filtered, &unprivileged, &files,
	       &size, &cpu);
	/* clang-format off */
	tell(call, "{\"event\":\"applied\",\"landlock\":%d,\"supervisor\":%d,\"measurable\":%s,\"network\":\"%s\",\"mounts\":%u,\"rules\":%u,\"sum\":%u,\"filtered\":%s,\"unprivileged\":%s,\"open_files\":%lu,\"file_size\":%lu,\"cpu_seconds\":%lu}",
	     packet->value, getpid(), measurable ? "true" : "false", network_of(call->tool), mounts, rules, sum,
	     filtered ? "true" : "false", unprivileged ? "true" : "false", files, size, cpu);
	/* clang-format on */
}

/* What the keeper has waited for. If the call was killed, more may have been seen before. */
static void take_usage(struct call *call, const char *text)
{
	uint64_t cpu = 0;
	long largest = 0;

	sscanf(text, "%lu %ld", &cpu, &largest);
	call->cpu = call->killed && call->cpu > cpu ? call->cpu : cpu;
	call->largest = call->killed && call->largest > largest ? call->largest : largest;
}

void hear_cell(struct call *call)
{
	struct packet packet;
	int descriptor;
	pid_t sender = 0;

	while (receive_packet(call->cell, &packet, &descriptor, &sender) > 0) {
		switch (packet.kind) {
		case PACKET_LISTENER:
			call->tool = sender;
			/* Our own number: who holds a cell ready asks the kernel for us before using it. A probe tries
			 * whether /proc shows us the keeper. */
			tell_applied(call, &packet);
			break;
		case PACKET_GO:
			call->started = true;
			call->begun = !call->plan->begins_later;
			call->began = milliseconds();
			call->next_look = call->began + 2;
			break;
		case PACKET_TERMINAL: terminal_begin(&call->terminal, take(&descriptor), call->plan->foreground); break;
		case PACKET_SCRATCH: call->scratch = take(&descriptor); break;
		case PACKET_CLOCK: call->cpu_counter = take(&descriptor); break;
		case PACKET_OUTER: call->outer = take(&descriptor); break;
		case PACKET_CONNECTION: courier_take(&call->courier, packet.text, take(&descriptor)); break;
		case PACKET_STOPPED:
			if (call->killed)
				break; /* by us, to be killed at leisure */
			/* Before the host stops, too, and the shell takes over. */
			terminal_leave(&call->terminal);
			tell(call, "{\"event\":\"stopped\",\"signal\":%d}", packet.value);
			break;
		case PACKET_MEMORY_FILE:
			/* None came along: there are more than we can hold, and so none that we could count. */
			if (descriptor < 0)
				stop_for_limit(call, "memory", call->plan->limits.memory, call->plan->limits.memory);
			else
				keep_memory_file(&call->memory_files, take(&descriptor));
			break;
		case PACKET_EXIT:
			call->exit_known = true;
			call->exit_status = packet.value;
			take_usage(call, packet.text);
			break;
		case PACKET_EVENT: put_frame(call, FRAME_EVENT, packet.text, strlen(packet.text)); break;
		}
		if (descriptor >= 0)
			close(descriptor);
	}
}

void hear_outer(struct call *call)
{
	struct packet packet;
	int descriptor;
	ssize_t got;

	while ((got = receive_packet(call->outer, &packet, &descriptor, NULL)) > 0) {
		if (packet.kind == PACKET_CONNECTION && descriptor >= 0)
			courier_take(&call->courier, packet.text, take(&descriptor));
		if (packet.kind == PACKET_EVENT)
			put_frame(call, FRAME_EVENT, packet.text, strlen(packet.text));
		if (descriptor >= 0)
			close(descriptor);
	}
	/* The outer keeper is gone, and with it the network. */
	if (got == 0) {
		close(call->outer);
		call->outer = -1;
	}
}
