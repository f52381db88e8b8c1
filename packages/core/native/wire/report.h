#pragma once

#include "wire/system.h"

/* Exit status of a process of ours that could not build the boundary. */
#define EXIT_REFUSED 125

/* Everything that goes wrong while the boundary is built ends here: an event
 * with the stage and errno, so that it is never mistaken for the tool's exit. */
_Noreturn void die(const char *stage, const char *detail);
void linger(int host);
void report_to(int host);
void report_from_inside(void); /* the supervisor speaks after us */
/* What die() does before it reports. */
void before_dying(void (*act)(void *context), void *context);
void report_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends `text` as the inside of a JSON string; cuts what does not fit. */
size_t json_escape(char *to, size_t room, const char *text);
