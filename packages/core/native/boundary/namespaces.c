/* User, mount, pid, network, ipc and uts namespaces: what is not granted is not there. */
#include "boundary/namespaces.h"
#include "wire/frames.h"
#include "wire/report.h"

#include <net/if.h>
#include <sched.h>

pid_t clone_into_namespaces(const struct cgroup *cgroup, bool keep_network)
{
	unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

	if (!keep_network)
		flags |= CLONE_NEWNET;
	/* A cgroup namespace made here would begin at the supervisor's cgroup; the keeper makes its own. */
	if (cgroup->folder >= 0)
		return clone_into_cgroup(cgroup, flags);
	flags |= CLONE_NEWCGROUP;
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void write_own(const char *file, const char *text)
{
	CLOSE_ON_RETURN int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || !write_fully(fd, text, strlen(text)))
		die("user-namespace", file);
}

/* The same numbers inside as outside, so that files keep their owner. */
void map_own_ids(uid_t uid, gid_t gid)
{
	char line[64];

	snprintf(line, sizeof line, "%u %u 1\n", uid, uid);
	write_own("/proc/self/uid_map", line);
	/* A group map without privilege needs setgroups refused first (CVE-2014-8989). */
	write_own("/proc/self/setgroups", "deny");
	snprintf(line, sizeof line, "%u %u 1\n", gid, gid);
	write_own("/proc/self/gid_map", line);
}

/* The only interface of the empty network; programs that talk to themselves need it. */
void raise_loopback(void)
{
	CLOSE_ON_RETURN int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		die("loopback", "cannot bring up the interface lo");
}
