/*
 * The launcher, as one argument. Three processes make a cell, one function each:
 *
 *   run_cell      the supervisor: outside the boundary; owns the host connection, clocks and limits
 *   keep_cell     the keeper: inside the namespaces (pid 1 there), not confined; reaps, and answers
 *                 the tool's trapped system calls
 *   become_tool   the tool: closes the boundary around itself step by step, then is the program
 *
 * Every step either holds or ends the process by die(), before the program begins. The watcher is a
 * process of its own, for all cells of a host (watcher/watcher.c). Under the name `cordon` this program is that
 * command (front/front.c).
 */
#include "boundary/confine.h"
#include "boundary/filter/filter.h"
#include "boundary/landlock.h"
#include "boundary/namespaces.h"
#include "boundary/new-terminal.h"
#include "boundary/receive-plan.h"
#include "boundary/scratch.h"
#include "boundary/tool.h"
#include "front/alone.h"
#include "front/door.h"
#include "front/front.h"
#include "keeper/keeper.h"
#include "relay/relay.h"
#include "supervisor/nursery.h"
#include "supervisor/supervise.h"
#include "watcher/watcher.h"
#include "wire/packets.h"
#include "wire/report.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#define HOST_FD 3
#define CHANNEL_FD 4

/* Between the processes of a cell. */
struct lines {
	int supervisor, cell; /* packets; keeper and tool have the cell's end */
	int plan_sender, plan_receiver; /* for the plan that follows a head start, or -1 */
};

static int run_cell(int host, int channel);
static int run_pair(void);
static _Noreturn void keep_cell(const struct plan *plan, int host, int supervisor, struct stdio stdio);
static _Noreturn void become_tool(const struct plan *plan, int host, int supervisor, int keeper, struct stdio stdio,
				  struct applied applied);

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Installed as `cordon`, and not started by that as a launcher. */
static bool is_front(const char *called)
{
	char path[PATH_MAX] = "";

	return called && strcmp(name_in(called), LAUNCHER_NAME) != 0 &&
	       readlink("/proc/self/exe", path, sizeof path - 1) > 0 && strcmp(name_in(path), "cordon") == 0;
}

/* `cordon-cell` runs one cell. Its host is at descriptor 3; with `channel` the host takes descriptors at 4. */
int main(int argc, char **argv)
{
	if (is_front(argv[0]))
		return run_front(argc, argv);
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("cordon-cell " CORDON_CELL_VERSION);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "watcher") == 0)
		return serve_watcher();
	if (argc > 2 && strcmp(argv[1], "alone") == 0)
		return run_alone(argv + 2);
	if (argc == 3 && strcmp(argv[1], "door") == 0)
		return serve_door(argv[2]);
	if (argc == 3 && strcmp(argv[1], "nursery") == 0)
		return serve_nursery(argv[2], run_cell);
	if (argc == 2 && strcmp(argv[1], "pair") == 0)
		return run_pair();
	if (argc == 4 && strcmp(argv[1], "relay") == 0)
		return serve_relay(argv[2], argv[3], run_cell);
	bool has_channel = argc == 2 && strcmp(argv[1], "channel") == 0;
	if ((argc != 1 && !has_channel) || fcntl(HOST_FD, F_GETFD) < 0) {
		fputs("cordon-cell is started by Cordon, with its host at descriptor 3. Use `cordon run`.\n", stderr);
		return EXIT_REFUSED;
	}
	/* Nothing that the embedding program left open reaches a cell. */
	fcntl(HOST_FD, F_SETFD, FD_CLOEXEC);
	if (has_channel)
		fcntl(CHANNEL_FD, F_SETFD, FD_CLOEXEC);
	close_range(HOST_FD + (has_channel ? 2 : 1), ~0U, 0);
	return run_cell(HOST_FD, has_channel ? CHANNEL_FD : -1);
}

/* Two cells, whose hosts are at descriptors 3 and 4. They are siblings: no cell's processes are among another's. */
static int run_pair(void)
{
	close_range(HOST_FD + 2, ~0U, 0);
	for (int host = HOST_FD; host <= HOST_FD + 1; host++) {
		pid_t child = fork();
		if (child < 0)
			return EXIT_REFUSED;
		if (child == 0) {
			close(host == HOST_FD ? HOST_FD + 1 : HOST_FD);
			fcntl(host, F_SETFD, FD_CLOEXEC);
			setsid();
			_exit(run_cell(host, -1));
		}
	}
	close_range(HOST_FD, HOST_FD + 1, 0);
	while (wait(NULL) > 0 || errno == EINTR) {
	}
	return 0;
}

static struct lines open_lines(bool head_start)
{
	int pair[2], plans[2] = { -1, -1 }, yes = 1;

	/* The kernel says who sent a packet: the number of the tool's process is taken from that. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0)
		die("supervise", "socketpair");
	if (head_start && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, plans) < 0)
		die("supervise", "socketpair");
	return (struct lines){
		.supervisor = pair[0], .cell = pair[1], .plan_receiver = plans[0], .plan_sender = plans[1]
	};
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

static int run_cell(int host, int channel)
{
	struct stdio tool, own;
	struct copiers copiers = { 0 };
	bool head_start;
	uid_t uid = geteuid();
	gid_t gid = getegid();

	/* From here on every failure is reported to the host, and no crash writes memory to a file. */
	report_to(host);
	disable_core_dumps();
	signal(SIGPIPE, SIG_IGN);

	/* What to build. A plan that is cut short or misspelt is refused as a whole. */
	struct plan plan = receive_plan(host, &head_start);

	/* The tool gets new pipes, a new terminal, or copies: no file, pipe or terminal of the caller. */
	open_stdio(&plan, &tool, &own, &copiers);
	struct lines lines = open_lines(head_start);

	/* What must be there before the first process of the cell. Its orphans come to us, and end with it. */
	make_scratch(&plan);
	if (plan.form == FORM_LANDLOCK && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		die("supervise", "subreaper");
	struct cgroup cgroup = make_cgroup(&plan);

	/* The keeper is born in its namespaces and its cgroup: no process of the cell is ever outside of them. */
	pid_t keeper = start_keeper(&plan, &cgroup);
	if (keeper == 0) {
		/* The supervisor's ends: if they stayed open here, a stream would never end. */
		report_from_inside();
		close(lines.supervisor);
		close_descriptor(&lines.plan_sender);
		close_descriptor(&channel);
		close_stdio(own);
		close_cgroup(&cgroup);
		/* The same user as outside, and nobody else. */
		if (plan.form == FORM_NAMESPACES)
			map_own_ids(uid, gid);
		if (head_start)
			plan = await_plan(&plan, lines.plan_receiver);
		keep_cell(&plan, host, lines.cell, tool);
	}
	close(lines.cell);
	close_descriptor(&lines.plan_receiver);
	close_stdio(tool);
	if (head_start)
		plan = hand_plan_on(&plan, host, lines.plan_sender);

	/* Until the last process of the cell is gone: by its own end, a limit, or the end of the host. */
	return supervise(&plan, host, channel, lines.supervisor, keeper, &cgroup, own, &copiers);
}

static _Noreturn void keep_cell(const struct plan *plan, int host, int supervisor, struct stdio stdio)
{
	struct remembered remembered;
	struct applied applied = NOTHING_APPLIED;
	int pair[2], mounts = -1;

	/* Nothing inside can read what the keeper has read. */
	hide_keeper();

	/* What is not granted is not there: a root of granted paths, a network with nobody in it. */
	if (plan->form == FORM_NAMESPACES)
		mounts = enter_namespaces(plan, &applied);
	else
		stay_outside();
	if (plan->form == FORM_NAMESPACES && !plan->probe)
		show_scratch(plan, supervisor);

	/* The last step that needs privileges. */
	if (plan->terminal)
		open_terminal(supervisor, plan, &stdio);
	begin_answers(&remembered, plan, supervisor);

	/* no_new_privs, no capability: neither the keeper nor the tool gets any back. The keeper carries out calls of
	 * the tool with no more rights than the tool has. */
	drop_privileges();
	bool enclosed = plan->form == FORM_NAMESPACES || enclose_signals();

	int signals = block_signals(plan);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		die("keeper", "socketpair");
	pid_t tool = fork();
	if (tool < 0)
		die("keeper", "fork");
	if (tool == 0)
		become_tool(plan, host, supervisor, pair[1], stdio, applied);
	report_to(-1); /* from here on the tool's process and the supervisor report */
	close(pair[1]);
	close(host);
	/* The terminal stays, so that it does not hang up when the tool closes its own descriptors. */
	close_stdio((struct stdio){ { stdio.at[0], stdio.at[1], stdio.at[2] }, -1 });

	/* When the tool's own process ends, everything else in the cell does. */
	watch_over_tool(&(struct keeper){ plan, tool, signals, supervisor, pair[0], stdio.terminal, &remembered, mounts,
					  enclosed });
}

static _Noreturn void become_tool(const struct plan *plan, int host, int supervisor, int keeper, struct stdio stdio,
				  struct applied applied)
{
	/* A session of its own: no terminal of the caller's to type into. */
	begin_tool(plan, stdio);
	join_outer(plan, supervisor);

	/* What one process can use up. The supervisor counts what all of them use together. */
	apply_resource_limits(plan);
	if (plan->limits.cpu)
		count_cpu(supervisor);

	/* Files: the rules repeat what the root shows. Of executing they alone decide. Without them, the root does. */
	if (!plan->without_landlock)
		apply_landlock(plan, stdio.terminal, &applied);

	/* System calls: a call that is not listed does not exist. The keeper judges what the filter cannot see. */
	hand_listener(keeper, apply_seccomp(plan));
	limit_descriptors(plan);

	/* The boundary is closed, and the host knows what enforces it. Only now is there a command. */
	report_applied(supervisor, &applied);
	struct command command = { 0 };
	if (!plan->probe)
		command = wait_for_command(host);
	send_packet(supervisor, PACKET_GO, 0, NULL, -1);
	if (plan->probe)
		_exit(try_listener(plan));
	execve(command.program, command.argv, command.envp);
	die("exec", command.program);
}
