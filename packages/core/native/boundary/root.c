/*
 * The root of the cell: an empty tmpfs into which the granted paths alone are bound, then pivot_root, then the old root
 * is gone.
 *
 * Two passes. First every mount point is made on the bare tmpfs; then the binds follow in the order of the plan
 * (parents before what lies in them). The second pass creates nothing, so that a path that vanished from a granted
 * folder is an error and never a folder made in the user's tree.
 */
#include "boundary/root.h"
#include "processes/proc.h"
#include "wire/frames.h"
#include "wire/kernel.h"
#include "wire/open-how.h"
#include "wire/report.h"

#include <sys/mount.h>
#include <sys/utsname.h>

#define HIDDEN_DIRECTORY ".cordon-hidden-directory"
#define HIDDEN_FILE ".cordon-hidden-file"
#define COVERING_FILE ".cordon-covering-file"
#define INERT (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* The last of these calls. Profiles of containers refuse them one by one, and `cordon doctor` says which. */
static const char *last_call;
#define MOUNT_CALL(name, ...) (last_call = #name, syscall(SYS_##name, __VA_ARGS__))

static _Noreturn void die_of_call(const char *stage, const char *path)
{
	char detail[PATH_MAX + 32];

	snprintf(detail, sizeof detail, "%s %s", last_call, path);
	die(stage, detail);
}

/* A detached file system of its own; `options` are key, value, ..., NULL. */
static int new_filesystem(const char *type, const char *const *options, unsigned attributes)
{
	CLOSE_ON_RETURN int context = (int)MOUNT_CALL(fsopen, type, FSOPEN_CLOEXEC);

	if (context < 0)
		return -1;
	for (; options && *options; options += 2)
		if (MOUNT_CALL(fsconfig, context, FSCONFIG_SET_STRING, options[0], options[1], 0) < 0)
			return -1;
	if (MOUNT_CALL(fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)MOUNT_CALL(fsmount, context, FSMOUNT_CLOEXEC, attributes);
}

/* The new root while it is made. Steps come in the order of their paths: neighbours mostly share their folder. */
struct new_root {
	int fd;
	struct applied *applied;
	char made[PATH_MAX]; /* the last folder of which all parents were made */
};

static void make_parents(struct new_root *root, const char *path)
{
	char partial[PATH_MAX];
	size_t folder = strrchr(path, '/') - path;

	if (folder < sizeof root->made && strncmp(path, root->made, folder) == 0 && root->made[folder] == '\0')
		return;
	if (snprintf(partial, sizeof partial, "%s", path + 1) >= (int)sizeof partial) {
		errno = ENAMETOOLONG;
		die("root", path);
	}
	for (char *slash = strchr(partial, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(root->fd, partial, 0755) < 0 && errno != EEXIST)
			die("root", path);
		*slash = '/';
	}
	snprintf(root->made, sizeof root->made, "%.*s", (int)folder, path);
}

static void make_file(int root, const char *path, const char *content, mode_t mode)
{
	CLOSE_ON_RETURN int fd = openat(root, path, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	if (fd < 0 || !write_fully(fd, content, strlen(content)))
		die("root", path);
}

static void make_mount_point(struct new_root *root, const struct step *step)
{
	const char *inside = step->path + 1;
	struct stat status;
	bool directory = step->kind != STEP_BIND && step->kind != STEP_HIDE;

	make_parents(root, step->path);
	switch (step->kind) {
	case STEP_LINK:
		if (symlinkat(step->text, root->fd, inside) < 0)
			die("root", step->path);
		return;
	case STEP_FILE: make_file(root->fd, inside, step->text, 0444); return;
	case STEP_COVER: return; /* lies in what is bound */
	case STEP_BIND:
	case STEP_HIDE:
		if (lstat(step->path, &status) < 0)
			die("root", step->path);
		directory = S_ISDIR(status.st_mode);
		break;
	default: break;
	}
	if (directory) {
		if (mkdirat(root->fd, inside, 0755) < 0 && errno != EEXIST)
			die("root", step->path);
	} else {
		make_file(root->fd, inside, "", 0444);
	}
}

static bool set_attributes(int tree, unsigned flags, uint64_t attributes)
{
	struct cordon_mount_attr set = { .attr_set = attributes, .propagation = flags & AT_RECURSIVE ? MS_PRIVATE : 0 };

	return MOUNT_CALL(mount_setattr, tree, "", flags | AT_EMPTY_PATH, &set, sizeof set) == 0;
}

/* Mounts the detached `tree` at `path` of the new root, never through a symbolic link. */
static void attach(int root, int tree, const char *path)
{
	CLOSE_ON_RETURN int target =
		open_how(root, path + 1, O_PATH | O_NOFOLLOW, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);

	if (target < 0)
		die("root", path);
	if (MOUNT_CALL(move_mount, tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		die_of_call("root", path);
}

static void bind_path(const struct new_root *root, const struct step *step)
{
	/* The host resolved the path; a symbolic link in it now was planted since. */
	CLOSE_ON_RETURN int source =
		open_how(AT_FDCWD, step->path, O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (source < 0)
		die("root", step->path);
	CLOSE_ON_RETURN int tree = (int)MOUNT_CALL(open_tree, source, "",
						   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0)
		die_of_call("root", step->path);

	if (!set_attributes(tree, AT_RECURSIVE,
			    MOUNT_ATTR_NOSUID | (step->access & ACCESS_WRITE ? 0 : MOUNT_ATTR_RDONLY) |
				    (step->access & ACCESS_EXECUTE ? 0 : MOUNT_ATTR_NOEXEC) |
				    (step->access & ACCESS_DEVICE ? 0 : MOUNT_ATTR_NODEV)))
		die_of_call("root", step->path);
	attach(root->fd, tree, step->path);
	note_applied(root->applied, 'b', step->access, step->path);
}

/* Puts a file or folder of ours over one that came with what is bound. */
static void put_over(const struct new_root *root, const char *ours, const char *path)
{
	CLOSE_ON_RETURN int tree = (int)MOUNT_CALL(open_tree, root->fd, ours, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0 || !set_attributes(tree, 0, MOUNT_ATTR_RDONLY | INERT))
		die_of_call("root", path);
	attach(root->fd, tree, path);
	note_applied(root->applied, 'o', 0, path);
}

static void hide(const struct new_root *root, const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		die("root", path);
	put_over(root, S_ISDIR(status.st_mode) ? HIDDEN_DIRECTORY : HIDDEN_FILE, path);
}

static void cover(const struct new_root *root, const struct step *step)
{
	make_file(root->fd, COVERING_FILE, step->text, 0444);
	put_over(root, COVERING_FILE, step->path);
	unlinkat(root->fd, COVERING_FILE, 0);
}

static void mount_new(const struct new_root *root, const char *stage, const char *path, const char *type,
		      const char *const *options, unsigned attributes)
{
	CLOSE_ON_RETURN int tree = new_filesystem(type, options, attributes);

	if (tree < 0)
		die_of_call(stage, path);
	attach(root->fd, tree, path);
	note_applied(root->applied, 'n', 0, path);
}

static void mount_scratch(struct new_root *root, const struct plan *plan, const struct step *step)
{
	char bytes[32], inodes[32];
	const char *options[] = { "size", bytes, "nr_inodes", inodes, "mode", "1777", NULL };

	/* An inode costs the kernel about a kilobyte that the size does not count. */
	snprintf(bytes, sizeof bytes, "%lu", plan->limits.scratch);
	snprintf(inodes, sizeof inodes, "%lu", plan->limits.scratch / 4096 + 64);
	mount_new(root, "scratch", step->path, "tmpfs", options,
		  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (plan->exec_limited ? MOUNT_ATTR_NOEXEC : 0));
	/* Granted paths may lie in it; their mount points were made beneath this mount. */
	root->made[0] = '\0';
	for (const struct step *later = step + 1; later < plan->steps + plan->step_count; later++)
		if (strncmp(later->path, step->path, strlen(step->path)) == 0 && later->path[strlen(step->path)] == '/')
			make_mount_point(root, later);
}

static void write_setting(int proc, const char *name, uint64_t value)
{
	CLOSE_ON_RETURN int setting = openat(proc, name, O_WRONLY | O_CLOEXEC);

	if (setting >= 0)
		dprintf(setting, "%lu", value);
}

/*
 * Since Linux 6.14 a pid namespace has its own highest number, which bounds its processes and threads for everybody,
 * also for root. Before, the file was the whole machine's, and root could write it from here: hence the version, since
 * trying would tell nothing. There the supervisor's own count must do.
 */
static void bound_processes(int proc, uint64_t most)
{
	struct utsname kernel;
	int major = 0, minor = 0;

	if (most && uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
	    (major > 6 || (major == 6 && minor >= 14)))
		write_setting(proc, "sys/kernel/pid_max", most);
}

/*
 * Instances and watches of inotify are counted for the user, who has 128 instances in all, and for each user namespace
 * on the way. So the one of the cell gets a share, and everybody else keeps the rest.
 */
static void bound_watching(int proc)
{
	char text[32];

	read_proc(text, sizeof text, "/proc/sys/fs/inotify/max_user_watches");
	write_setting(proc, "sys/user/max_inotify_instances", MOST_INOTIFY_INSTANCES);
	if (atol(text) > 0)
		write_setting(proc, "sys/user/max_inotify_watches", atol(text) / 2);
}

static void mount_proc(const struct new_root *root, const struct step *step, uint64_t most_processes)
{
	CLOSE_ON_RETURN int proc = new_filesystem("proc", NULL, INERT);

	if (proc < 0)
		die_of_call("proc", step->path);
	bound_processes(proc, most_processes);
	bound_watching(proc);
	if (!set_attributes(proc, 0, MOUNT_ATTR_RDONLY))
		die_of_call("proc", step->path);
	attach(root->fd, proc, step->path);
	note_applied(root->applied, 'n', 0, step->path);
}

static void take_step(struct new_root *root, const struct plan *plan, const struct step *step)
{
	/* The machine has some thousand terminals for all, and most of them outside of the host's own /dev/pts. */
	static const char *const terminal_options[] = { "ptmxmode", "0666", "mode", "0620", "max", "64", NULL };

	switch (step->kind) {
	case STEP_BIND: bind_path(root, step); break;
	case STEP_HIDE: hide(root, step->path); break;
	case STEP_COVER: cover(root, step); break;
	case STEP_PROC:
		/* Read-only: uid 0 without any capability may still write /proc/sys when it is root's. */
		mount_proc(root, step, plan->limits.user_processes);
		break;
	case STEP_SCRATCH: mount_scratch(root, plan, step); break;
	case STEP_TERMINALS:
		mount_new(root, "terminals", step->path, "devpts", terminal_options,
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
		break;
	case STEP_DIRECTORY:
	case STEP_LINK:
	case STEP_FILE: break; /* made with the mount points */
	}
}

static void leave_old_root(int root)
{
	/* pivot_root(".", ".") stacks the old root on the new one, where it can be detached. */
	if (fchdir(root) < 0 || MOUNT_CALL(pivot_root, ".", ".") < 0)
		die_of_call("pivot-root", "/");
	if (MOUNT_CALL(umount2, ".", MNT_DETACH) < 0 || chdir("/") < 0)
		die_of_call("pivot-root", "of the old root");
	if (!set_attributes(root, 0, MOUNT_ATTR_RDONLY))
		die_of_call("pivot-root", "of the new root");
}

void assemble_root(const struct plan *plan, struct applied *applied)
{
	static const char *const options[] = { "size", "4M", "nr_inodes", "8192", "mode", "0755", NULL };
	CLOSE_ON_RETURN int fd = new_filesystem("tmpfs", options, INERT);

	if (fd < 0)
		die_of_call("mount-namespace", "of a tmpfs");
	if (MOUNT_CALL(move_mount, fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		die_of_call("mount-namespace", "of the new root");

	struct new_root root = { .fd = fd, .applied = applied };
	umask(0022);
	bool hides = false;
	for (size_t i = 0; i < plan->step_count; i++)
		hides = hides || plan->steps[i].kind == STEP_HIDE;
	if (hides) {
		if (mkdirat(fd, HIDDEN_DIRECTORY, 0000) < 0)
			die("root", HIDDEN_DIRECTORY);
		make_file(fd, HIDDEN_FILE, "", 0000);
	}
	for (size_t i = 0; i < plan->step_count; i++)
		make_mount_point(&root, &plan->steps[i]);
	for (size_t i = 0; i < plan->step_count; i++)
		take_step(&root, plan, &plan->steps[i]);
	if (hides) {
		unlinkat(fd, HIDDEN_DIRECTORY, AT_REMOVEDIR);
		unlinkat(fd, HIDDEN_FILE, 0);
	}
	leave_old_root(fd);
}
