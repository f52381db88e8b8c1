/*
 * Who is at the other end. A process in a cell, in a container or of another user is not served, and does not serve: a
 * host does for its client what the client itself could do, and a launcher does what its host says.
 */
#include "front/peer.h"
#include "processes/proc.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static const char *const NAMESPACES[KINDS_OF_NAMESPACES] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
/* The first is 1 in every cell. Each cell adds a filter. */
static const char *const FACTS[] = { "NoNewPrivs:", "Seccomp_filters:", "Uid:",	   "Gid:",    "Groups:",
				     "CapInh:",	    "CapPrm:",		"CapEff:", "CapBnd:", "CapAmb:" };

static bool same_text(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

/* Appends the line that begins so. A line that is missing on one side is missing in its text. */
static void append_line(char *to, size_t room, const char *status, const char *name)
{
	size_t length = strlen(to);
	const char *line = strstr(status, name);

	if (line)
		snprintf(to + length, room - length, "%.*s\n", (int)strcspn(line, "\n"), line);
}

static bool stat_of(const char *process, const char *name, dev_t *device, ino_t *inode)
{
	char path[64];
	struct stat found;

	snprintf(path, sizeof path, "/proc/%s/%s", process, name);
	if (stat(path, &found) < 0)
		return false;
	*device = found.st_dev;
	*inode = found.st_ino;
	return true;
}

/* 0 before Linux 5.8. */
static uint64_t mount_of_root(const char *process)
{
	char path[64];
	struct statx found;

	snprintf(path, sizeof path, "/proc/%s/root", process);
	return statx(AT_FDCWD, path, 0, STATX_MNT_ID, &found) == 0 && (found.stx_mask & STATX_MNT_ID) ? found.stx_mnt_id
												      : 0;
}

static bool look_at(const char *process, struct stand *stand)
{
	char status[8192], name[16];

	*stand = (struct stand){ 0 };
	if (read_proc(status, sizeof status, "/proc/%s/status", process) == 0 ||
	    !stat_of(process, "root", &stand->root.device, &stand->root.inode))
		return false;
	stand->mount = mount_of_root(process);
	for (size_t i = 0; i < COUNT_OF(NAMESPACES); i++) {
		snprintf(name, sizeof name, "ns/%s", NAMESPACES[i]);
		if (!stat_of(process, name, &stand->namespaces[i].device, &stand->namespaces[i].inode))
			return false;
	}
	for (size_t i = 0; i < COUNT_OF(FACTS); i++)
		append_line(stand->facts, sizeof stand->facts, status, FACTS[i]);
	/* Empty where no security module gives labels. */
	read_proc(stand->label, sizeof stand->label, "/proc/%s/attr/current", process);
	return strstr(stand->facts, "NoNewPrivs:\t0\n") != NULL;
}

static bool is_same_stand(const struct stand *one, const struct stand *other)
{
	bool same = one->root.device == other->root.device && one->root.inode == other->root.inode &&
		    one->mount == other->mount;

	for (size_t i = 0; i < COUNT_OF(NAMESPACES); i++)
		same = same && one->namespaces[i].device == other->namespaces[i].device &&
		       one->namespaces[i].inode == other->namespaces[i].inode;
	return same && same_text(one->facts, other->facts) && same_text(one->label, other->label);
}

/* Linux 6.5 holds the process itself. Before that its number could be another one's, once all numbers were used up. */
static int open_peer(int connection, pid_t pid)
{
	int descriptor = -1;
	socklen_t length = sizeof descriptor;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) == 0)
		return descriptor;
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool is_gone(const struct peer *peer)
{
	struct pollfd gone = { .fd = peer->process, .events = POLLIN };

	return poll(&gone, 1, 0) != 0;
}

static pid_t number_of_peer(int connection)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid() ? peer.pid
													     : -1;
}

bool look_at_ourselves(struct stand *own)
{
	return look_at("self", own);
}

bool find_peer_beside(const struct stand *own, int connection, struct peer *peer)
{
	struct stand theirs;
	char number[16];

	peer->pid = number_of_peer(connection);
	peer->process = peer->pid > 0 ? open_peer(connection, peer->pid) : -1;
	if (peer->process < 0)
		return false;
	snprintf(number, sizeof number, "%d", peer->pid);
	/* Still there: so it was its number that we looked at. */
	if (look_at(number, &theirs) && is_same_stand(own, &theirs) && !is_gone(peer))
		return true;
	close_descriptor(&peer->process);
	return false;
}

bool is_peer(const struct peer *peer, int connection)
{
	return peer->process >= 0 && number_of_peer(connection) == peer->pid && !is_gone(peer);
}
