/*
 * Stands in a folder of the write root while the host moves that folder out,
 * and climbs from there. Usage: climb-out ROOT FOLDER
 * Says "in place", waits until ROOT/go exists, then tries `..`.
 */
#include "route.h"

static const char *root, *folder;
static int handle;

static int read_above(void) { return take_from(open("../secret", O_RDONLY)); }
static int read_further_above(void) { return take_from(open("../../secret", O_RDONLY)); }
static int read_from_handle(void) { return take_from(openat(handle, "../secret", O_RDONLY)); }
static int write_above(void) { return put_into(open("../planted", O_CREAT | O_WRONLY, 0600)); }
static int through_own_cwd(void) { return take_from(open("/proc/self/cwd/../secret", O_RDONLY)); }
static int through_own_fd(void) { return take_from(open(path_of("/proc/self/fd/%d/../secret", handle), O_RDONLY)); }

static int step_by_step(void)
{
	for (int i = 0; i < 30; i++) {
		if (access("secret", R_OK) == 0) return take_from(open("secret", O_RDONLY));
		TRY(chdir(".."));
	}
	return NOTHING;
}

/* Moved or not, what lies in the folder itself was granted by nobody any more. */
static int to_the_host_root(void)
{
	for (int i = 0; i < 60; i++) TRY(chdir(".."));
	return take_from(open(path_of("./%s/../outside/secret", root), O_RDONLY));
}

int main(int count, char **words)
{
	if (count != 3) return 64;
	root = words[1];
	folder = words[2];
	handle = open(folder, O_PATH | O_DIRECTORY);
	if (handle < 0 || chdir(folder) < 0) unable(folder);
	printf("in place\n");
	fflush(stdout);
	for (int i = 0; i < 20000 && access(path_of("%s/go", root), F_OK) != 0; i++) usleep(1000);
	route("dot-dot", read_above);
	route("dot-dot-dot-dot", read_further_above);
	route("openat-handle", read_from_handle);
	route("write", write_above);
	route("proc-self-cwd", through_own_cwd);
	route("proc-self-fd", through_own_fd);
	route("step-by-step", step_by_step);
	route("root", to_the_host_root);
	return 0;
}
