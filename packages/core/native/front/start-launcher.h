#pragma once

#include "front/host-connection.h"

/*
 * Starts the launcher of a cell as a child of this process, with a connection of its own to the host, which finds its
 * front by our process number. `with_channel`: its tool may reach hosts. `mask`: the signals that our caller blocks.
 * Returns its number, or -1.
 */
pid_t start_launcher(struct local_host *host, bool with_channel, const sigset_t *mask);
/* Kills it, and returns when it is gone. */
void end_launcher(pid_t *launcher);
