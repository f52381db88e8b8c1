#pragma once

#include "keeper/call/notification.h"

struct place {
	int folder; /* O_PATH; the caller closes it */
	char name[256];
	char path[8192]; /* where it really lies */
	bool names_folder; /* a slash behind it */
};
/* Opens the folder of a path's last name. False with errno; EINVAL if that is no plain name. */
bool find_place(const struct notification *call, int at, uint64_t pointer, struct place *place);
/* The same of a path that was read already, for a file to be made. `follows`: links are followed to the place. */
bool find_place_to_make(const struct notification *call, int at, const char *path, bool follows, struct place *place);
/* Whether a path lies in a write root in which the keeper acts for the tool. */
bool is_kept(const struct plan *plan, const char *path);
/* The same, and nothing hidden. */
bool may_read(const struct plan *plan, const char *path);
/* The same, and nothing protected. */
bool may_write(const struct plan *plan, const char *path);
/* The same, and nothing protected lies in it. */
bool may_move(const struct plan *plan, const char *path);
bool is_second_name(const struct plan *plan, int object, bool reads);
/* Takes the tool's umask away. */
mode_t without_umask(const struct notification *call, mode_t mode);
