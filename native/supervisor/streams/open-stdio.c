/* The ends of the tool's streams, before there is a tool. */
#include "supervisor/streams/open-stdio.h"
#include "supervisor/streams/terminal.h"
#include "wire/report.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void open_stdio(const struct plan *plan, struct stdio *tool, struct stdio *own, struct copiers *copiers)
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
			tool->at[i] = joined ? fcntl(tool->at[1], F_DUPFD_CLOEXEC, FIRST_OF_OURS)
					     : take_caller_stream(i, copiers);
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
