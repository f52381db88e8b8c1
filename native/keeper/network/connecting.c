/* connect(), carried out on the tool's own socket or on one that takes its place. */
#include "keeper/network/connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static void wake(int signal)
{
	(void)signal;
}

/*
 * The tool shares its sockets' flags and options with us, and can make any of them one that waits, for as long as it
 * likes. A timer ends that; again and again, should its signal come in the moment before.
 */
int connect_in_time(int socket, const struct sockaddr *address, socklen_t length)
{
	const struct itimerval none = { 0 }, time = { .it_interval.tv_usec = 50000, .it_value.tv_usec = SOON * 1000 };
	const struct sigaction action = { .sa_handler = wake }; /* without SA_RESTART */
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &time, NULL);
	int error = connect(socket, address, length) < 0 ? errno : 0;
	setitimer(ITIMER_REAL, &none, NULL);
	return error;
}

static void connect_and_respond(const struct notification *call, const struct stand_in *ours,
				const union address *address, socklen_t length, bool may_wait)
{
	bool borrowed = ours->descriptor < 0;
	int error = !borrowed  ? connect_stand_in(ours, &address->any, length)
		    : may_wait ? (connect(ours->socket, &address->any, length) < 0 ? errno : 0)
			       : connect_in_time(ours->socket, &address->any, length);

	if (!borrowed && (error == 0 || error == EINPROGRESS) && !put_in_place(call, ours))
		error = EACCES;
	respond(call, 0, error);
}

int take_socket(const struct notification *call, struct stand_in *ours)
{
	*ours = (struct stand_in){ .socket = borrow_descriptor(call, int_argument(call, 0)), .descriptor = -1 };
	if (ours->socket >= 0) {
		ours->flags = fcntl(ours->socket, F_GETFL);
		return 0;
	}
	if (errno == EPERM || errno == ENOSYS)
		return make_stand_in(call, ours);
	return errno == EBADF ? EBADF : EACCES;
}

void connect_as_asked(const struct notification *call, const struct stand_in *ours, const union address *address,
		      socklen_t length)
{
	if (ours->flags & O_NONBLOCK) {
		connect_and_respond(call, ours, address, length, false);
		return;
	}
	/* It may take long, and other threads of the tool must not wait for it: a child of ours does it. */
	pid_t child = fork();
	if (child < 0)
		respond(call, 0, EAGAIN);
	if (child == 0) {
		connect_and_respond(call, ours, address, length, true);
		_exit(0);
	}
}
