#pragma once

#include "watcher/territory/findings.h"
#include "watcher/territory/paths.h"

/* Files with several names, of all write roots together: such a file may have a name in each. */
struct several_names {
	uint64_t made; /* counts names that were made for a file that had one already */
	/* Counts those that stayed, and looks at what nobody had watched. As long as it is the same, an answer about
	 * other names is still true. */
	uint64_t changes;
	struct identities linked_files; /* that names were made for, in order, since a time in which no call ran */
};

struct territory;

/* What to look for in a territory, and who wants to know what happens there. */
struct observer {
	const struct names *names;
	/* A protected or carved-out name was created or moved in. True when it is no longer there. */
	bool (*appeared)(struct territory *territory, const char *path, bool is_protected, void *context);
	/* A folder was made or moved in. Only protected names of what came with it appear. */
	void (*brought)(struct territory *territory, const char *folder, void *context);
	/* Something was removed, moved or put at a name that is remembered, or that is a folder's. */
	void (*replaced)(struct territory *territory, const char *path, void *context);
	/* Something with this name was moved aside, and not by us. */
	void (*set_aside)(struct territory *territory, const char *path, const char *aside, void *context);
	void *context;
};

struct territory {
	char *root;
	int fd;
	int inotify;
	char **folders; /* paths below the root ("" is the root itself), by watch number */
	size_t folder_room, folder_count;
	struct findings found;
	const struct observer *observer; /* while it is refreshed */
	struct paths unexplored; /* folders that were made or moved in, to be walked once the events have been read */
	struct several_names *several;
	struct paths unsettled_names; /* names made for files that had one already; see settle_other_names */
	uint32_t moving; /* the cookie of the last event that said what was moved away */
	char moved[PATH_MAX]; /* and what that was */
	struct paths set_aside; /* by us, while calls run: where to */
	mode_t mode; /* of the root itself, when no call ran in it */
	bool unwatched; /* more folders than can be watched: looked through anew when a call begins and ends */
	bool too_large; /* more folders than are looked through */
	uint64_t round_began, next_round; /* milliseconds; see territories.c */
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
/* The folder in which the last name of a path lies (O_PATH). */
int open_folder_of(struct territory *territory, const char *path, const char **name);
/* Gives `path`, and the folders on the way to it, back to their owner, if the tool closed them. */
void open_up(struct territory *territory, const char *path);
/* Without following a link. False when nothing is there. */
bool status_at(struct territory *territory, const char *path, struct statx *status);
char kind_of(const struct statx *status);
/* Remembers the mode of the root itself, before a call. */
void note_root(struct territory *territory);
/* Gives the root itself back to its owner, for the next call. */
void keep_root_open(struct territory *territory);
char kind_at(struct territory *territory, const char *path);
char kind_of_entry(struct territory *territory, const struct dirent *entry, const char *path);
/* The caller frees it; NULL when it is no link. */
char *read_link(struct territory *territory, const char *path);
