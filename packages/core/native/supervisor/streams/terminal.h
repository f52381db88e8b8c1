#pragma once

#include "wire/plan.h"

#include <termios.h>

struct terminal {
	int caller; /* the terminal Cordon was started in */
	int own; /* the master of the tool's */
	bool taken; /* the caller's is raw, and its keys are the tool's */
	bool copied; /* the modes of the caller's to the tool's */
	struct termios modes; /* of the caller's, to be put back */
	char pending[8192]; /* written by the tool, not yet shown */
	size_t at, length;
	bool asked, typed; /* the last key was ^C or ^\\; any other was typed before */
	cc_t last_key;
};

/* The one that Cordon was started in, where a stream of the plan is a terminal; or -1. */
int find_caller_terminal(const struct plan *plan);
void terminal_begin(struct terminal *terminal, int own, bool foreground);
void terminal_resize(const struct terminal *terminal);
void terminal_take(struct terminal *terminal);
/* Puts the caller's terminal back as it was. Safe at any time, any number of times. */
void terminal_leave(struct terminal *terminal);
bool terminal_has_pending(const struct terminal *terminal);
void terminal_show(struct terminal *terminal, const char *bytes, size_t length);
void terminal_flush(struct terminal *terminal);
bool terminal_insists(struct terminal *terminal, const char *keys, size_t length);
