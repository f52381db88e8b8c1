#pragma once

#include "watcher/territory/territory.h"

#define ASIDE_MARK ".set-aside-by-cordon-"
enum put_aside { NOTHING_THERE, PUT_ASIDE, LEFT_THERE };
/* Puts back the link that was at `path` before. False when there was none, or something is there. */
bool restore_link(struct territory *territory, const char *path);
/* Moves what is at `path` to an inert name beside it. */
enum put_aside put_aside(struct territory *territory, const char *path, char *aside, size_t room);
/* Calls `moved` when it was there; without a new name when it could not be moved. */
typedef void was_put_aside(struct territory *territory, const char *path, const char *aside, void *context);
void move_and_tell(struct territory *territory, const char *path, was_put_aside *moved, void *context);
