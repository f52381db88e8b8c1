#pragma once

#include "wire/system.h"

enum packet_kind {
	PACKET_LISTENER = 'L',
	PACKET_GO = 'G',
	PACKET_EXIT = 'X',
	PACKET_TERMINAL = 'T',
	PACKET_STOPPED = 'Z',
	PACKET_SCRATCH = 'S',
	PACKET_CLOCK = 'P',
	PACKET_MEMORY_FILE = 'M',
	PACKET_EVENT = 'V',
	PACKET_CONNECTION = 'N',
	PACKET_OUTER = 'O'
};

struct packet {
	char kind;
	int value;
	char text[4000];
};

#define PACKET_HEADER offsetof(struct packet, text)

/* Sends bytes, and with them a descriptor unless that is -1. False with errno. */
bool send_along(int fd, const void *bytes, size_t length, int descriptor, int flags);
/* False when the other side is gone. */
bool offer_packet(int fd, char kind, int value, const char *text, int descriptor);
/* The same, but this process ends when the other side is gone. */
void send_packet(int fd, char kind, int value, const char *text, int descriptor);
/* Bytes received, and a descriptor, or -1 in its place. 0 at the end, -1 with errno. Waits for nothing. */
ssize_t receive_along(int fd, void *bytes, size_t room, int *descriptor, pid_t *sender);
/* The same for a packet. */
ssize_t receive_packet(int fd, struct packet *packet, int *descriptor, pid_t *sender);
