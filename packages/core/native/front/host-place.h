#pragma once

#include "wire/system.h"

#include <sys/un.h>

/*
 * Each purpose has a socket of its own, named by this ending: requests, launchers of cells, and channels on which
 * launchers hand over connections of their tools.
 */
#define FOR_REQUEST ""
#define FOR_CELL ".cell"
#define FOR_CHANNEL ".channel"

/* Where the host of this user and this build listens. False if that folder is not this user's alone. */
bool find_host(const char *build, const char *purpose, struct sockaddr_un *address);
/* What is there already stays as it is. */
void make_host_folder(void);
