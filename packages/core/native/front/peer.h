#pragma once

#include "wire/system.h"

#define KINDS_OF_NAMESPACES 7

/* Where a process stands: what it may do and see. */
struct stand {
	struct {
		dev_t device;
		ino_t inode;
	} namespaces[KINDS_OF_NAMESPACES], root;
	uint64_t mount; /* of the root: one more bind of / is another root */
	char facts[2048], label[256];
};

struct peer {
	pid_t pid;
	int process; /* a descriptor of it, so that no other process has its number */
};
#define NO_PEER ((struct peer){ -1, -1 })

/* False in a cell, and where /proc does not tell. */
bool look_at_ourselves(struct stand *own);
/*
 * The process at the other end of a socket, if it stands where we stand: same user, groups, capabilities, namespaces,
 * root, label and system call filters, and no cell around it. False otherwise.
 */
bool find_peer_beside(const struct stand *own, int connection, struct peer *peer);
/* Whether the same process is at the other end of this socket too, and still there. */
bool is_peer(const struct peer *peer, int connection);
