/* The launcher: `cordon-cell` runs one cell whose host is at descriptor 3; with the word `channel` its host takes descriptors at 4. */
#include "wire/cell.h"
#include "boundary/cgroup.h"
#include "watcher/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_FD 3
#define CHANNEL_FD 4

static struct frame expect_frame(int from)
{
	struct frame frame;

	if (!read_frame(from, &frame))
		exit(EXIT_REFUSED); /* nobody there to tell */
	return frame;
}

static struct plan plan_in(const struct frame *frame)
{
	struct plan plan;

	errno = EINVAL;
	if (frame->kind != FRAME_PLAN)
		die("plan", "expected a plan");
	const char *wrong = parse_plan(frame->payload, frame->length, &plan);
	if (wrong)
		die("plan", wrong);
	return plan; /* points into the frame, which lives as long as the cell */
}

/*
 * A head start: what is known of a plan while it is still being made. With that
 * the keeper enters its namespaces, the longest single step of all, while the
 * host looks into the write roots. It has nothing of the cell yet, and ends when
 * no plan comes.
 */
static struct plan outline_in(const struct frame *frame)
{
	struct plan outline = { .form = FORM_NAMESPACES, .streams = { STREAM_FRAMES, STREAM_FRAMES, STREAM_FRAMES } };

	outline.network_all = strcmp(frame->payload, "all") == 0;
	return outline;
}

static struct plan follow_outline(const struct plan *outline, const struct frame *frame)
{
	struct plan plan = plan_in(frame);

	errno = EINVAL;
	if (plan.form != outline->form || plan.network_all != outline->network_all || plan.cgroup ||
	    memcmp(plan.streams, outline->streams, sizeof plan.streams) != 0)
		die("plan", "it is not what the head start was for");
	return plan;
}

static struct plan await_plan(const struct plan *outline, int from)
{
	/* A supervisor that died before this closed its end, and nothing comes. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		die("keeper", NULL);
	struct frame frame = expect_frame(from);
	close(from);
	return follow_outline(outline, &frame);
}

static struct plan hand_plan_on(const struct plan *outline, int host, int keeper)
{
	struct frame frame = expect_frame(host);
	struct plan plan = follow_outline(outline, &frame);

	/* A keeper that failed has told why, and is found dead soon. */
	write_frame(keeper, FRAME_PLAN, frame.payload, frame.length);
	close(keeper);
	return plan;
}

/* The tool's ends and ours. Terminals come later: the keeper makes them, inside. */
static void open_stdio(const struct plan *plan, struct stdio *tool, struct stdio *own, struct copiers *copiers)
{
	bool inherited = false;

	*tool = *own = (struct stdio){ { -1, -1, -1 }, -1 };
	own->terminal = find_caller_terminal(plan);
	for (int i = 0; i < 3; i++) {
		int ends[2];
		inherited = inherited || plan->streams[i] != STREAM_FRAMES;
		if (plan->streams[i] == STREAM_DIRECT) {
			/* `> log 2>&1`: through one pipe, or what it says would come in another order. */
			bool joined = i == 2 && copiers->pids[1] > 0 && is_same_file(1, 2);
			tool->at[i] = joined ? fcntl(tool->at[1], F_DUPFD_CLOEXEC, 4) : take_caller_stream(i, copiers);
		} else if (plan->streams[i] == STREAM_FRAMES) {
			if (pipe2(ends, O_CLOEXEC) < 0)
				die("stdio", NULL);
			tool->at[i] = ends[i == 0 ? 0 : 1];
			own->at[i] = ends[i == 0 ? 1 : 0];
		}
	}
	if (own->at[0] >= 0)
		fcntl(own->at[0], F_SETFL, O_NONBLOCK);
	if (own->at[1] >= 0)
		fcntl(own->at[1], F_SETPIPE_SZ, STREAM_BUFFER); /* refused when the user has many; it works without */
	if (!inherited)
		return;
	/* Not to keep a pipe open that the tool has closed. */
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0)
		die("stdio", "/dev/null");
	close(nowhere);
}

void close_stdio(struct stdio stdio)
{
	for (int i = 0; i < 3; i++)
		if (stdio.at[i] >= 0)
			close(stdio.at[i]);
	if (stdio.terminal >= 0)
		close(stdio.terminal);
}

static pid_t start_keeper(const struct plan *plan, const struct cgroup *cgroup)
{
	pid_t keeper = plan->form == FORM_NAMESPACES ? clone_into_namespaces(cgroup, plan->network_all)
		     : cgroup->folder >= 0	     ? clone_into_cgroup(cgroup, 0)
						     : fork();

	if (keeper < 0) {
		int error = errno;
		remove_cgroup(cgroup);
		errno = error;
		die(plan->cgroup ? "cgroup" : "user-namespace", "clone");
	}
	return keeper;
}

int run_cell(int host, int channel)
{
	struct stdio tool, own;
	struct copiers copiers = { 0 };
	int pair[2], plans[2], yes = 1;
	uid_t uid = geteuid();
	gid_t gid = getegid();

	report_to(host);
	disable_core_dumps();
	signal(SIGPIPE, SIG_IGN);
	struct frame first = expect_frame(host);
	bool early = first.kind == FRAME_HEAD_START;
	struct plan plan = early ? outline_in(&first) : plan_in(&first);
	open_stdio(&plan, &tool, &own, &copiers);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0)
		die("supervise", "socketpair");
	if (early && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, plans) < 0)
		die("supervise", "socketpair");

	make_scratch(&plan);
	if (plan.form == FORM_LANDLOCK && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		die("supervise", "subreaper");
	struct cgroup cgroup = make_cgroup(&plan);
	pid_t keeper = start_keeper(&plan, &cgroup);
	if (keeper == 0) {
		/* The supervisor's ends: held here too, a stream would never end. */
		report_from_inside();
		close(pair[0]);
		if (channel >= 0)
			close(channel);
		close_stdio(own);
		close_cgroup(&cgroup);
		if (plan.form == FORM_NAMESPACES)
			map_own_ids(uid, gid);
		if (early) {
			close(plans[1]);
			plan = await_plan(&plan, plans[0]);
		}
		keep(&plan, host, pair[1], tool);
	}
	close(pair[1]);
	close_stdio(tool);
	if (early) {
		close(plans[0]);
		plan = hand_plan_on(&plan, host, plans[1]);
	}
	return supervise(&plan, host, channel, pair[0], keeper, &cgroup, own, &copiers);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("cordon-cell " CORDON_CELL_VERSION);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "watcher") == 0)
		return serve_watcher();
	if (argc == 3 && strcmp(argv[1], "nursery") == 0)
		return serve_nursery(argv[2]);
	bool has_channel = argc == 2 && strcmp(argv[1], "channel") == 0;
	if ((argc != 1 && !has_channel) || fcntl(HOST_FD, F_GETFD) < 0) {
		fputs("cordon-cell is started by Cordon, with its host at descriptor 3. Use `cordon run`.\n", stderr);
		return EXIT_REFUSED;
	}
	fcntl(HOST_FD, F_SETFD, FD_CLOEXEC);
	if (has_channel)
		fcntl(CHANNEL_FD, F_SETFD, FD_CLOEXEC);
	close_range(HOST_FD + (has_channel ? 2 : 1), ~0U, 0);
	return run_cell(HOST_FD, has_channel ? CHANNEL_FD : -1);
}
