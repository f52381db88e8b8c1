/* Whose socket is this? */
#ifndef CORDON_SOCKETS_H
#define CORDON_SOCKETS_H

#include <stdbool.h>

/* Whether a process below this one holds the socket that is bound to the file. */
bool is_own_socket(int file);

#endif
