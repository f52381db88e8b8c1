/*
 * The watcher's own structures: watcher.c (requests), watch-order.c (what a call may
 * make appear), held.c (single names), territories.c (write roots), territory.c
 * (what happens in one), explore.c (walking it), found.c (the protected names found in it), links.c (those that are links),
 * other-names.c (hard links to them), aside.c, git-folders.c and git-config.c (what is put aside).
 */
#ifndef CORDON_WATCHER_H
#define CORDON_WATCHER_H

#include "wire/cell.h"

#include <stdio.h>
#include <sys/stat.h>

/* Frames between the watcher and its host, see watcher.c. */
enum watcher_frame {
	/* from the host */
	WATCHER_NAMES = 'N',
	WATCHER_BEGIN = 'B',
	WATCHER_HOLD = 'H',
	WATCHER_OTHER_NAMES = 'L',
	WATCHER_GO = 'G',
	WATCHER_END = 'X',
	/* to the host */
	WATCHER_FOUND = 'F',
	WATCHER_DONE = 'D',
	WATCHER_ASIDE = 'A',
};

/* Where a protected name counts. */
enum scope {
	SCOPE_ANYWHERE = 'a', /* at every depth */
	SCOPE_PROJECT = 'p',  /* at every depth, but not in folders of installed dependencies */
	SCOPE_ROOT = 'r',     /* directly in the write root */
	SCOPE_FILE = 'f',     /* at every depth, unless it is a folder */
};
#define SCOPE_LETTERS "aprf"

struct name {
	enum scope scope;
	const char *path; /* one or more names, joined by slashes */
};

#define ENDINGS 128 /* with some 500 names, one path in fifteen is compared with all of them */

struct names {
	struct name *list;
	size_t count;
	uint64_t endings[ENDINGS]; /* a bit for the hash of each name that a protected path can end in: most paths end in none */
};

struct folder {
	char *path; /* below the root; "" is the root itself */
};

/* One object of a file system, however it is named. */
struct identity {
	uint32_t device_major, device_minor;
	uint64_t inode;
	int64_t born; /* nanoseconds; 0 where the file system does not say. Numbers of inodes are given again. */
};

struct found {
	char *path;    /* below the root */
	char kind;     /* d, f or l */
	bool closed;   /* a folder that its own user may not read: sealed as a whole, because nobody knows what is in it */
	char *target;  /* of a link: a link cannot be sealed by a mount, so it is put back when it was changed */
	bool on_the_way; /* no protected name itself, but a link that is one leads through it, or there */
	struct identity identity;
	uint64_t seen; /* the turn in which it was found */
};

/* The protected names found in a write root, with an index by path: a tool may make very many. */
struct findings {
	struct found *list;
	size_t count, room;
	size_t *index; /* positions in the list, plus one; 0 is free */
	size_t index_room;
};

struct paths {
	char **list;
	size_t count, room;
};

/* Objects, by their identity. */
struct identities {
	struct identity *list;
	size_t count, room;
	uint64_t lost; /* how many were not remembered: then every object counts as one of them */
};

/*
 * Files with several names, of all write roots together: such a file may have a name in each. `made` counts names that
 * were made for a file that had one already. `changes` counts those that stayed, and looks at what nobody had watched:
 * as long as it is the same, an answer about other names is still true.
 */
struct several_names {
	uint64_t made, changes;
	struct identities linked_files; /* the files that names were made for, in order, since a time in which no call ran */
};

/* One write root: its folders under watch, and the protected names found in them. */
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

/* territories.c */
#define MOST_TERRITORIES 64
/* Of those, without a call: each has one of the 128 instances of inotify that a user has in all. */
#define MOST_IDLE 8

struct territories {
	struct territory *list[MOST_TERRITORIES];
	size_t count;
	struct several_names several;
};

/* NULL with errno when it cannot be had. */
struct territory *territory_of(struct territories *all, const char *root);
/* NULL, or why the root cannot be guarded; the host refuses the call then. `word` to `end`: what the policy says of it. */
const char *cannot_guard(const struct territory *territory, const char *word, const char *end);
/* The same, known after a look at it. */
const char *cannot_guard_all(const struct territory *territory);

/* territory.c */
struct territory *open_territory(const char *root, struct several_names *several);
void close_territory(struct territory *territory);
/* Who wants to know what happens in a territory. */
struct observer {
	/* A protected or carved-out name was created or moved in. True when it is no longer there. */
	bool (*appeared)(struct territory *territory, const char *path, bool is_protected, void *context);
	/* Something was removed, moved or put at a name that is remembered, or that is a folder's. */
	void (*replaced)(struct territory *territory, const char *path, void *context);
	void *context;
};

enum thoroughness { WHAT_HAPPENED, EVERYTHING };
/* Takes in what has happened. EVERYTHING also looks where nothing can be watched. */
void refresh_territory(struct territory *territory, const struct names *names, enum thoroughness how, const struct observer *observer);

/* rounds.c: looking again and again where inotify is used up */
int until_next_round(const struct territories *all);
bool begins_round(struct territory *territory);
void end_round(struct territory *territory);

/* explore.c */
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
void explore(struct territory *territory, const char *from, const struct names *names, const struct observer *observer);
void add_path(struct paths *paths, const char *path);
void free_paths(struct paths *paths);

/* several-names.c */
bool has_other_names(const struct statx *status);
struct identity identity_of(const struct statx *status);
int compare_identities(const void *left, const void *right);
bool is_same_object(const struct identity *left, const struct identity *right);
/* A name was made for a file that has another. */
void note_other_name(struct territory *territory, const char *path, const struct statx *status);
/* Which of the noted names are still there. */
void settle_other_names(struct territory *territory);
/* The files that names were made for since there were `count` of them, sorted. The caller frees the list. */
struct identities files_linked_since(const struct several_names *several, size_t count, uint64_t lost);
bool is_among(const struct identities *sorted, const struct statx *status);

/* other-names.c: hard links to what is protected */
/*
 * The names, in the roots, of files that are sealed by another name. `words`: `r` before a write root, `R` before a root that
 * is only read, `s` before what is sealed in one. `!ROOT` is listed for a root that is too large.
 */
void list_other_names(FILE *list, struct territories *all, const char *words, const char *end);
/*
 * Puts a copy into the place of a file that has other names. Calls `gave` for each file at `path`, or in the folder there.
 * `only`: or NULL, the files that this is for.
 */
typedef void gave_copy(const char *path, bool could, void *context);
void give_own_copies(struct territory *territory, const char *path, const struct identities *only, gave_copy *gave, void *context);

/* found.c */
void add_ending(struct names *names, const char *name);
bool is_protected_name(const struct names *names, const char *path, char kind);
struct found *find(const struct findings *found, const char *path);
/* A file that was found before, by whatever name. */
const struct found *find_object(const struct findings *found, const struct statx *status);
/* False when it was known already (it stays as it was first seen, and what replaced it is judged against that), or there are too many. */
bool remember(struct territory *territory, const char *path, char kind);
void remember_closed(struct territory *territory, const char *path);
bool is_in_closed(const struct territory *territory, const char *path);
/* What is gone. Links are kept while a call runs, because they are put back when it ends. */
void forget_vanished(struct territory *territory);
/* Closed folders that have been opened by their owner are forgotten, and put among the unexplored. */
void forget_opened(struct territory *territory);
void free_findings(struct findings *found);
/* Whether a path is this name, or ends in it behind a slash. */
bool ends_in_name(const char *path, const char *name);
/* Whether a path is a folder on the way to this name; `rest` is the name behind it. */
bool leads_to_name(const char *path, const char *name, const char **rest);
/* Whether a path is this name or, as a link, leads to it. */
bool means_name(const char *path, const char *name, char kind);
/* Behind the last component `.git` of a path (at a slash or the end), or NULL when it has none. */
const char *behind_git(const char *path);

/* links.c */
char *read_link(struct territory *territory, const char *path);
/* Whether the link that was at `path` before is there now (also: put back). */
bool link_is_unchanged(struct territory *territory, const char *path);

/*
 * git-config.c: whether git runs nothing because of this configuration of a repository. `work_tree`: what
 * core.worktree may say, or NULL.
 */
bool config_is_harmless(char *text, size_t length, const char *work_tree); /* changes the text; it has room for a NUL behind `length` */
bool config_file_is_harmless(int file, const char *work_tree);

/* aside.c */
enum put_aside { NOTHING_THERE, PUT_ASIDE, LEFT_THERE };
/* Puts back the link that was at `path` before. False when there was none, or something is there. */
bool restore_link(struct territory *territory, const char *path);
/* Moves what is at `path` to an inert name beside it. */
enum put_aside put_aside(struct territory *territory, const char *path, char *aside, size_t room);
/* Puts aside what would run in a repository that appeared; calls `moved` for each; without a new name when it could not be moved. */
typedef void was_put_aside(struct territory *territory, const char *path, const char *aside, void *context);
void disarm(struct territory *territory, const struct found *found, was_put_aside *moved, void *context);
void move_and_tell(struct territory *territory, const char *path, was_put_aside *moved, void *context);
void disarm_hooks(struct territory *territory, const char *path, was_put_aside *moved, void *context);

/* git-folders.c: repositories of submodules and work trees */
/* Whether a `.git` file leads to a repository that Cordon looks after by its name, and that leads back. */
bool leads_to_own_repository(struct territory *territory, const char *path);
/* Puts aside what would run in the repositories at or below this folder. */
void disarm_repositories(struct territory *territory, const char *folder, was_put_aside *moved, void *context);

/* ---- watch-order.c --------------------------------------------------------- */

struct watch_order {
	unsigned long number;
	struct territory *territory;
	uint64_t since; /* what was found in later turns appeared during the call */
	uint64_t made, lost; /* of several_names, when it began */
	size_t linked_files_before; /* the length of linked_files, when it began */
	bool running; /* before that, nothing that happens is the tool's doing */
	char **words; /* of the policy: exemptions and carve-outs */
	size_t word_count;
	struct watch_order *next;
};

void add_word(struct watch_order *order, const char *word);
/* Named by the policy itself. */
bool is_exempt(const struct watch_order *order, const char *path);
/* Carved out by the policy before it existed. */
bool is_carved_out(const struct watch_order *order, const char *path);
/* There before the call, and no link: sealed in its cell. If it was replaced, then by somebody else. */
bool was_sealed(const struct watch_order *order, const char *path);
/* In a folder that is sealed for this call, or in which the tool can make nothing: whatever appears there is somebody else's. */
bool is_out_of_reach(const struct watch_order *order, const char *path);
bool is_sealed_object(const struct watch_order *order, const char *path);
/* The very object that was sealed for this call under another name: its user moved it. */
bool was_sealed_elsewhere(const struct watch_order *order, const struct found *found);
bool lies_in(const char *path, const char *folder);
/* Whether something that is sealed for this call is at this path, or in the folder there. */
bool has_seal_in(const struct watch_order *order, const char *path);
/* Protected, and to be taken away at once; the rest of a new repository is looked at when the call has ended. */
bool must_not_appear(const struct names *names, const struct watch_order *order, const char *path, char kind);
/* A link that was there before the call, protected or on the way from one that is. */
bool is_guarded_link(const struct watch_order *order, const char *path);
/* links.c: all that is protected for this call, as kind and path each. What does not exist yet is added to the order's words. */
void list_guarded(FILE *list, struct watch_order *order, const struct names *names);

/* ---- held.c ---------------------------------------------------------------- */

/* Single names that the policy of a call takes out of what it grants: what is mounted over them goes with them. */
struct held_names {
	int inotify; /* 0: not yet */
	struct held_name *list;
};

/* NULL, or why it cannot be watched. */
const char *hold_name(struct held_names *held, unsigned long number, const char *path);
void release_names(struct held_names *held, unsigned long number);
typedef void held_was_replaced(unsigned long number, const char *path);
void take_held_events(struct held_names *held, held_was_replaced *replaced);

/* ---- watcher.c, deeds.c ------------------------------------------------------- */

struct watcher {
	struct names names;
	struct territories territories;
	struct watch_order *orders;
	struct held_names held;
	uint64_t requests;
};

/* What was done about something protected that a call touched. */
enum deed {
	SET_ASIDE = 'm', /* moved to an inert name */
	PUT_BACK = 'b',  /* a link that was removed is there again */
	LEFT = 'l',      /* it could not be moved */
	UNSEEN = 'u',    /* the root holds more than is looked through */
	SEPARATED = 's', /* it had another name; it is a file of its own now */
	REPLACED = 'r',  /* nothing: somebody else replaced, moved or removed it, and with it its seal */
};

/* Takes in what has happened in a root, and does what must be done about it at once. */
void refresh(struct watcher *watcher, struct territory *territory, enum thoroughness how);
/* What a call that has ended left in its root. */
void look_at_what_is_left(struct watcher *watcher, struct watch_order *order);
/* Tells the host of a name that a call holds. */
void on_held_replacement(unsigned long number, const char *path);

int serve_watcher(void);

#endif
