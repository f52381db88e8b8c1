#pragma once

#include "wire/system.h"

#include <sys/un.h>

/* What a connection is for, as the ending of its socket: a request, the launcher of its cell, or what the host gets
 * from that launcher: connections of the tool. */
#define FOR_REQUEST ""
#define FOR_CELL ".cell"
#define FOR_CHANNEL ".channel"

/* Where the host of this user and this build listens. False if that folder is not this user's alone. */
bool find_host(const char *build, const char *purpose, struct sockaddr_un *address);
/* What is there already stays as it is. */
void make_host_folder(void);
