/* The scout's own structures: scout.c (requests), territory.c (what is where), aside.c and
 * git-config.c (what is put aside). */
#ifndef CORDON_SCOUT_H
#define CORDON_SCOUT_H

#include "cell.h"

/* Where a protected name counts. */
enum scope {
	SCOPE_ANYWHERE = 'a', /* at every depth */
	SCOPE_PROJECT = 'p',  /* at every depth, but not in folders of installed dependencies */
	SCOPE_ROOT = 'r',     /* directly in the write root */
	SCOPE_FILE = 'f',     /* at every depth, unless it is a folder */
};

struct name {
	enum scope scope;
	const char *path; /* one or more names, joined by slashes */
};

struct folder {
	char *path; /* below the root; "" is the root itself */
};

struct found {
	char *path;    /* below the root */
	char kind;     /* d, f or l */
	char *target;  /* of a link: a link cannot be sealed by a mount, so it is put back when it was changed */
	uint64_t seen; /* the turn in which it was found */
};

/* One write root: its folders under watch, and the protected names found in them. */
struct territory {
	char *root;
	int fd;
	int inotify;
	struct folder *folders; /* by watch number */
	size_t folder_room, folder_count;
	struct found *found;
	size_t found_count, found_room;
	bool unwatched; /* more folders than can be watched: looked through anew each time */
	uint64_t turn;
	uint64_t used; /* when, in requests: the one unused for longest makes room */
};

/* Whether a path is this name, or ends in it behind a slash. */
bool ends_in_name(const char *path, const char *name);
/* Behind the component `.git` of a path (at a slash or the end), or NULL when it has none. */
const char *behind_git(const char *path);

struct territory *open_territory(const char *root);
void close_territory(struct territory *territory);
/* Takes in what has happened; calls `appeared` for each name that was created or moved in since. */
typedef void name_appeared(struct territory *territory, const char *path, bool is_protected, void *context);
void refresh_territory(struct territory *territory, const struct name *names, size_t count, name_appeared *appeared, void *context);
/* The same without ever walking the whole: what happened in folders that are not under watch is left for the end. */
void hear_territory(struct territory *territory, const struct name *names, size_t count, name_appeared *appeared, void *context);

/* Whether the link that was at `path` before is there now (also: put back). */
bool link_is_unchanged(const struct territory *territory, const char *path);
/* Puts back the link that was at `path` before, if there was one. */
void restore_link(struct territory *territory, const char *path);
/* Moves what is at `path` to an inert name beside it. False when there was nothing. */
bool put_aside(struct territory *territory, const char *path, char *aside, size_t room);
/* git-config.c: whether git runs nothing because of this configuration of a repository */
bool config_is_harmless(char *text, size_t length); /* changes the text; it has room for a NUL behind `length` */
bool config_file_is_harmless(int file);

/* Puts aside what would run in a repository that appeared; calls `moved` for each. */
typedef void was_put_aside(struct territory *territory, const char *path, const char *aside, void *context);
void disarm(struct territory *territory, const struct found *found, was_put_aside *moved, void *context);

int serve_scout(void);

#endif
