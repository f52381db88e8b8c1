/* One write root: its folders under watch, and the protected names found in them. */
#pragma once

#include "watcher/territory/findings.h"
#include "watcher/territory/paths.h"

struct folder {
	char *path; /* below the root; "" is the root itself */
};

/*
 * Files with several names, of all write roots together: such a file may have a name in each. `made` counts names that
 * were made for a file that had one already. `changes` counts those that stayed, and looks at what nobody had watched:
 * as long as it is the same, an answer about other names is still true.
 */
struct several_names {
	uint64_t made, changes;
	struct identities
		linked_files; /* the files that names were made for, in order, since a time in which no call ran */
};

struct territory {
	char *root;
	int fd;
	int inotify;
	struct folder *folders; /* by watch number */
	size_t folder_room, folder_count;
	struct findings found;
	struct paths unexplored; /* folders that were made or moved in, to be walked once the events have been read */
	struct several_names *several;
	struct paths unsettled_names; /* names made for files that had one already; see settle_other_names */
	mode_t mode; /* of the root itself, when no call ran in it */
	bool unwatched; /* more folders than can be watched: looked through anew when a call begins and ends */
	bool too_large; /* more folders than are looked through */
	uint64_t round_began, next_round; /* milliseconds; see rounds.c */
	unsigned calls; /* that run in it: what appears may be theirs */
	uint64_t turn;
	uint64_t grown; /* the turn in which something was made in it, as far as we saw */
	uint64_t used; /* when, in requests: the one unused for longest makes room */
};

/* How many folders of a write root are looked into. */
#define MOST_FOLDERS 131072
/* How many protected names are remembered of it; a call is refused with far fewer. */
#define MOST_FOUND 65536

struct territory *open_territory(const char *root, struct several_names *several);
void close_territory(struct territory *territory);

/* Beneath the root and through no symbolic link: a tool may be rearranging the tree while we look. */
int open_beneath(struct territory *territory, const char *path, int flags);
/* Gives folders on the way to `path` (and that one) back to their owner, whom the tool closed them to. */
void open_up(struct territory *territory, const char *path);
/* Without following a link. False when nothing is there. */
bool status_at(struct territory *territory, const char *path, struct statx *status);
char kind_of(const struct statx *status);
/* How the root itself is before a call; and afterwards: */
void note_root(struct territory *territory);
/* Gives the root itself back to its owner: closed, it would be of no use to the next call. */
void keep_root_open(struct territory *territory);
char kind_at(struct territory *territory, const char *path);
/* The caller frees it; NULL when it is no link. */
char *read_link(struct territory *territory, const char *path);
