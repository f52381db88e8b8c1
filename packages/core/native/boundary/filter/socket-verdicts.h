#pragma once

#include "boundary/filter/program.h"

bool connects_unjudged(const struct plan *plan);
void check_socket(struct program *program, const struct plan *plan);
void check_socket_pair(struct program *program, const struct plan *plan);
void check_send(struct program *program, int flags);
void check_option(struct program *program, const struct plan *plan);
unsigned listen_action(const struct plan *plan);
unsigned bind_action(const struct plan *plan);
