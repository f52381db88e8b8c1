/* The folder of the socket. No variable names it: a project could set one, and answer there in the place of the host.
 */
#include "front/host-place.h"

/* A folder, no link, and nobody else gets in. */
static bool is_ours_alone(const char *path)
{
	struct stat found;

	return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
	       (found.st_mode & 077) == 0;
}

static void write_folder(char *folder, size_t room)
{
	char runtime[64];
	unsigned user = geteuid();

	snprintf(runtime, sizeof runtime, "/run/user/%u", user);
	if (is_ours_alone(runtime))
		snprintf(folder, room, "%s/cordon", runtime);
	else if (user == 0)
		snprintf(folder, room, "/run/cordon");
	else
		snprintf(folder, room, "/tmp/cordon-host-%u", user);
}

bool find_host(const char *build, const char *purpose, struct sockaddr_un *address)
{
	char folder[80];

	write_folder(folder, sizeof folder);
	address->sun_family = AF_UNIX;
	return (size_t)snprintf(address->sun_path, sizeof address->sun_path, "%s/%s%s", folder, build, purpose) <
		       sizeof address->sun_path &&
	       is_ours_alone(folder);
}

void make_host_folder(void)
{
	char folder[80];

	write_folder(folder, sizeof folder);
	mkdir(folder, 0700);
}
