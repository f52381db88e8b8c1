/*
 * Seals that fall off. What is bound over a name in the user's own folders
 * stays there whatever the tool does; but when somebody outside renames over
 * that name or removes it (an editor that saves, `git config`), the kernel drops
 * the mount, and the tool has what took its place. The kernel tells whoever
 * polls the mount table; the keeper then ends the cell.
 */
#include "keeper/seals.h"
#include "wire/packets.h"
#include "wire/report.h"

/* Opened in the cell's own mount namespace, while /proc is still in sight. */
int open_mount_table(void)
{
	int table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	if (table < 0)
		die("root", "/proc/self/mountinfo");
	return table;
}

bool mounts_changed(int table)
{
	struct pollfd polled = { .fd = table, .events = POLLPRI };

	return poll(&polled, 1, 0) > 0 && polled.revents & (POLLPRI | POLLERR);
}

/* `closed`: what is said of one that cannot be reached. */
static bool is_mounted(const struct step *step, bool closed)
{
	struct statx status;

	if (step->kind != STEP_BIND && step->kind != STEP_HIDE && step->kind != STEP_COVER)
		return true;
	if (statx(AT_FDCWD, step->path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &status) < 0)
		return errno == EACCES && closed;
	return status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static const char *find_fallen(const struct plan *plan, bool closed)
{
	for (size_t i = 0; i < plan->step_count; i++)
		if (!is_mounted(&plan->steps[i], closed))
			return plan->steps[i].path;
	return NULL;
}

void begin_seal_watch(const struct plan *plan, int table)
{
	/* Our own mounts were changes, too; and one that came among them would be overlooked. */
	mounts_changed(table);
	const char *fallen = find_fallen(plan, true);
	if (fallen)
		die("root", fallen);
}

bool tell_fallen_seal(const struct plan *plan, int supervisor)
{
	char path[3000], event[3500];
	/* A tool may close the folder of one in this moment, and open it again. */
	const char *fallen = find_fallen(plan, false);

	if (!fallen)
		return false;
	json_escape(path, sizeof path, fallen);
	snprintf(event, sizeof event, "{\"event\":\"violation\",\"kind\":\"unsealed\",\"path\":\"%s\"}", path);
	offer_packet(supervisor, PACKET_EVENT, 0, event, -1);
	return true;
}
