/* The root of the cell: the granted paths, and nothing else. */
#ifndef CORDON_ROOT_H
#define CORDON_ROOT_H

#include "wire/plan.h"

void assemble_root(const struct plan *plan);

#endif
