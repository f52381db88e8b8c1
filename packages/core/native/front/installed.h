#pragma once

#include "wire/system.h"

/* What a native `cordon` belongs to. The installation writes it beside the program, as PROGRAM.front. */
struct installed {
	char *build; /* names the host of exactly this Cordon */
	char *node, *script; /* the other way to do everything */
	char *answers; /* a folder of texts for words that ask only for help or the version */
	bool moved; /* it was written elsewhere: neither the host nor the texts belong to this place */
};

/* False if there is no such file. */
bool read_installed(struct installed *installed);
