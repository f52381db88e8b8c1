#pragma once

#include "wire/system.h"

/*
 * The process at the other end of a socket, if it stands where we stand: same user, groups, capabilities, namespaces,
 * root, label and system call filters, and no cell around it. Otherwise -1.
 */
pid_t peer_beside_us(int connection);
