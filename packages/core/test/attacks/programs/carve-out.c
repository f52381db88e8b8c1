/*
 * Gets at a file that is carved out of a write root. Every route has a folder
 * of its own in ROOT, with its own carved file, conf/secret, so that none can
 * spoil another.
 *
 *   carve-out --routes write|create|read          prints the names
 *   carve-out --seed write|create|read ROOT       makes the folders (the host, before)
 *   carve-out write|create|read ROOT              attacks
 *
 * `create` is the same with a carved file that does not exist yet.
 */
#include "route.h"
#include <linux/openat2.h>

static const char *root, *current;

static char *at(const char *name) { return path_of("%s/%s/%s", root, current, name); }
static char *carved(void) { return at("conf/secret"); }

static char *decoy(void)
{
	char *path = at("decoy");
	int fd = open(path, O_CREAT | O_WRONLY, 0755);
	if (fd < 0 || write(fd, "planted\n", 8) != 8) unable(path);
	close(fd);
	return path;
}

/* In place at the end: the attacker's bytes under the carved name. */
static int planted(void)
{
	char text[16] = "";
	int fd = open(carved(), O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof text - 1) < 0) return errno;
	return strncmp(text, "planted", 7) == 0 ? 0 : NOTHING;
}

static int plant(const char *path)
{
	int result = put_into(open(path, O_CREAT | O_WRONLY | O_TRUNC, 0755));
	return result ? result : planted();
}

static int w_open(void) { return put_into(open(carved(), O_WRONLY)); }
static int w_create(void) { return put_into(open(carved(), O_CREAT | O_WRONLY, 0755)); }
static int w_exclusive(void) { return put_into(open(carved(), O_CREAT | O_EXCL | O_RDWR, 0755)); }
static int w_truncate(void) { TRY(truncate(carved(), 0)); return 0; }
static int w_unlink(void) { TRY(unlink(carved())); return 0; }
static int w_unlink_recreate(void) { TRY(unlink(carved())); return plant(carved()); }
static int w_chmod(void) { TRY(chmod(carved(), 0777)); return 0; }
static int w_own_root(void) { return put_into(open(path_of("/proc/self/root%s", carved()), O_CREAT | O_WRONLY, 0755)); }
static int w_dot_dot(void) { return put_into(open(at("conf/../conf/./secret"), O_CREAT | O_WRONLY, 0755)); }
static int w_rename_away(void) { TRY(rename(carved(), at("away"))); return 0; }
static int w_rename_onto(void) { TRY(rename(decoy(), carved())); return planted(); }
static int w_mkdir(void) { TRY(mkdir(carved(), 0755)); return 0; }
static int w_mknod(void) { TRY(mknod(carved(), S_IFREG | 0755, 0)); return 0; }
static int w_symlink(void) { TRY(symlink(decoy(), carved())); return planted(); }
static int w_link(void) { TRY(link(decoy(), carved())); return planted(); }

static int w_openat2(void)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 0755 };
	return put_into((int)syscall(SYS_openat2, AT_FDCWD, carved(), &how, sizeof how));
}

static int w_exchange(void)
{
	TRY(renameat2(AT_FDCWD, decoy(), AT_FDCWD, carved(), RENAME_EXCHANGE));
	return planted();
}

static int w_reopen(void)
{
	int fd = open(carved(), O_PATH);
	TRY(fd);
	return put_into(open(path_of("/proc/self/fd/%d", fd), O_WRONLY));
}

static int w_hard_link(void)
{
	TRY(link(carved(), at("alias")));
	return put_into(open(at("alias"), O_WRONLY));
}

static int w_alias(void)
{
	TRY(symlink(at("conf"), at("alias")));
	return put_into(open(at("alias/secret"), O_CREAT | O_WRONLY, 0755));
}

static int w_handle_of_folder(void)
{
	int fd = open(at("conf"), O_PATH | O_DIRECTORY);
	TRY(fd);
	return put_into(openat(fd, "secret", O_CREAT | O_WRONLY, 0755));
}

static int w_unnamed(void)
{
	int fd = open(at("conf"), O_TMPFILE | O_RDWR, 0755);
	TRY(fd);
	TRY(write(fd, "planted\n", 8));
	TRY(linkat(AT_FDCWD, path_of("/proc/self/fd/%d", fd), AT_FDCWD, carved(), AT_SYMLINK_FOLLOW));
	return planted();
}

static int w_parent_rename(void)
{
	TRY(rename(at("conf"), at("conf2")));
	return put_into(open(at("conf2/secret"), O_CREAT | O_WRONLY, 0755));
}

/* Moves the parent away with whatever protects it, and builds a new one under the old name. */
static int w_parent_recreate(void)
{
	TRY(rename(at("conf"), at("conf2")));
	TRY(mkdir(at("conf"), 0755));
	return plant(carved());
}

static int w_parent_symlink(void)
{
	TRY(mkdir(at("evil"), 0755));
	TRY(close(open(at("evil/secret"), O_CREAT | O_WRONLY, 0755)));
	TRY(rename(at("conf"), at("conf2")));
	TRY(symlink("evil", at("conf")));
	return plant(at("evil/secret"));
}

static int w_parent_exchange(void)
{
	TRY(mkdir(at("evil"), 0755));
	TRY(close(open(at("evil/secret"), O_CREAT | O_WRONLY, 0755)));
	TRY(renameat2(AT_FDCWD, at("evil"), AT_FDCWD, at("conf"), RENAME_EXCHANGE));
	return plant(carved());
}

static int w_grandparent(void)
{
	char *base = path_of("%s/%s", root, current), *away = path_of("%s/%s.away", root, current);
	TRY(rename(base, away));
	TRY(mkdir(base, 0755));
	TRY(mkdir(at("conf"), 0755));
	return plant(carved());
}

static int w_build_elsewhere(void)
{
	TRY(mkdir(at("built"), 0755));
	TRY(close(open(at("built/secret"), O_CREAT | O_WRONLY, 0755)));
	TRY(rename(at("conf"), at("conf2")));
	TRY(rename(at("built"), at("conf")));
	return plant(carved());
}

static int r_open(void) { return take_from(open(carved(), O_RDONLY)); }
static int r_own_root(void) { return take_from(open(path_of("/proc/self/root%s", carved()), O_RDONLY)); }
static int r_alias(void) { TRY(symlink(carved(), at("alias"))); return take_from(open(at("alias"), O_RDONLY)); }
static int r_hard_link(void) { TRY(link(carved(), at("alias"))); return take_from(open(at("alias"), O_RDONLY)); }
static int r_rename(void) { TRY(rename(carved(), at("away"))); return take_from(open(at("away"), O_RDONLY)); }
static int r_parent(void) { TRY(rename(at("conf"), at("conf2"))); return take_from(open(at("conf2/secret"), O_RDONLY)); }
static int r_chmod(void) { chmod(carved(), 0777); return take_from(open(carved(), O_RDONLY)); }

static int r_grandparent(void)
{
	TRY(rename(path_of("%s/%s", root, current), path_of("%s/%s.away", root, current)));
	return take_from(open(path_of("%s/%s.away/conf/secret", root, current), O_RDONLY));
}

static int r_openat2(void)
{
	struct open_how how = { .flags = O_RDONLY };
	return take_from((int)syscall(SYS_openat2, AT_FDCWD, carved(), &how, sizeof how));
}

static int r_reopen(void)
{
	int fd = open(carved(), O_PATH);
	TRY(fd);
	return take_from(open(path_of("/proc/self/fd/%d", fd), O_RDONLY));
}

static int r_exchange(void)
{
	char *mine = decoy();
	TRY(renameat2(AT_FDCWD, mine, AT_FDCWD, carved(), RENAME_EXCHANGE));
	return take_from(open(mine, O_RDONLY));
}

struct entry { const char *name; attempt *try; };

static const struct entry writes[] = {
	{ "open", w_open }, { "truncate", w_truncate }, { "unlink", w_unlink }, { "unlink-recreate", w_unlink_recreate },
	{ "chmod", w_chmod }, { "proc-self-root", w_own_root }, { "dot-dot", w_dot_dot }, { "rename-away", w_rename_away },
	{ "rename-onto", w_rename_onto }, { "rename-exchange", w_exchange }, { "openat2", w_openat2 }, { "proc-self-fd", w_reopen },
	{ "hard-link", w_hard_link }, { "symlink-parent", w_alias }, { "openat-handle", w_handle_of_folder },
	{ "parent-rename", w_parent_rename }, { "parent-recreate", w_parent_recreate }, { "parent-symlink", w_parent_symlink },
	{ "parent-exchange", w_parent_exchange }, { "parent-built-elsewhere", w_build_elsewhere }, { "grandparent", w_grandparent },
	{ NULL, NULL },
};

static const struct entry creates[] = {
	{ "o-creat", w_create }, { "o-excl", w_exclusive }, { "proc-self-root", w_own_root }, { "dot-dot", w_dot_dot },
	{ "rename-onto", w_rename_onto }, { "openat2", w_openat2 }, { "mkdir", w_mkdir }, { "mknod", w_mknod }, { "symlink", w_symlink },
	{ "hard-link", w_link }, { "symlink-parent", w_alias }, { "openat-handle", w_handle_of_folder }, { "o-tmpfile", w_unnamed },
	{ "parent-recreate", w_parent_recreate }, { "parent-symlink", w_parent_symlink }, { "parent-exchange", w_parent_exchange },
	{ "parent-built-elsewhere", w_build_elsewhere }, { "grandparent", w_grandparent }, { NULL, NULL },
};

static const struct entry reads[] = {
	{ "open", r_open }, { "proc-self-root", r_own_root }, { "symlink", r_alias }, { "hard-link", r_hard_link },
	{ "rename", r_rename }, { "parent-rename", r_parent }, { "grandparent", r_grandparent }, { "openat2", r_openat2 },
	{ "proc-self-fd", r_reopen }, { "rename-exchange", r_exchange }, { "chmod", r_chmod }, { NULL, NULL },
};

static const struct entry *table_of(const char *mode)
{
	return strcmp(mode, "write") == 0 ? writes : strcmp(mode, "create") == 0 ? creates : reads;
}

static int seed(const char *mode)
{
	for (const struct entry *entry = table_of(mode); entry->name; entry++) {
		current = entry->name;
		if (mkdir(path_of("%s/%s", root, current), 0755) < 0 || mkdir(at("conf"), 0755) < 0) unable(at("conf"));
		if (strcmp(mode, "create") == 0) continue;
		int fd = open(carved(), O_CREAT | O_WRONLY, 0640);
		if (fd < 0 || write(fd, "SECRET carved\n", 14) != 14) unable(carved());
		close(fd);
	}
	return 0;
}

int main(int count, char **words)
{
	if (count == 3 && strcmp(words[1], "--routes") == 0) {
		for (const struct entry *entry = table_of(words[2]); entry->name; entry++) puts(entry->name);
		return 0;
	}
	if (count == 4) return root = words[3], seed(words[2]);
	if (count != 3) return 64;
	root = words[2];
	for (const struct entry *entry = table_of(words[1]); entry->name; entry++) {
		current = entry->name;
		route(entry->name, entry->try);
	}
	return 0;
}
