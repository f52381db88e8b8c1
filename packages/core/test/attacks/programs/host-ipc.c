/*
 * Reaches IPC objects of the host: SysV shared memory, queues and semaphores,
 * POSIX message queues, /dev/shm. Usage: host-ipc KEY NAME (see ipc-host.c)
 */
#include "route.h"
#include <dirent.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static key_t key;
static const char *name;

struct letter { long type; char text[64]; };

static int read_segment(int id)
{
	char *bytes = shmat(id, NULL, SHM_RDONLY);
	if (bytes == (char *)-1) return errno;
	note("%.40s", bytes);
	return 0;
}

static int segment_by_key(void) { int id = shmget(key, 0, 0); TRY(id); return read_segment(id); }

static int segment_by_index(void)
{
	struct shmid_ds facts;
	int last = ENOENT;
	for (int index = 0; index < 4096; index++) {
		int id = shmctl(index, SHM_STAT, &facts);
		/* An index is free (EINVAL), or another user's segment has it (EACCES). */
		if (id < 0) { last = errno; continue; }
		if (facts.shm_perm.__key == key) return read_segment(id);
	}
	return last;
}

static int segment_written(void)
{
	int id = shmget(key, 0, 0);
	TRY(id);
	char *bytes = shmat(id, NULL, 0);
	if (bytes == (char *)-1) return errno;
	memcpy(bytes + 64, "planted", 7);
	return 0;
}

static int letter_received(void)
{
	struct letter letter = {0};
	int id = msgget(key, 0);
	TRY(id);
	TRY(msgrcv(id, &letter, sizeof letter.text, 0, IPC_NOWAIT));
	note("%s", letter.text);
	return 0;
}

static int letter_sent(void)
{
	struct letter letter = { 1, "planted" };
	int id = msgget(key, 0);
	TRY(id);
	TRY(msgsnd(id, &letter, sizeof letter.text, IPC_NOWAIT));
	return 0;
}

static int semaphore_raised(void)
{
	struct sembuf change = { 0, 1, IPC_NOWAIT };
	int id = semget(key, 0, 0);
	TRY(id);
	TRY(semop(id, &change, 1));
	return 0;
}

static int posix_letter(void)
{
	char text[8192] = "";
	mqd_t queue = mq_open(path_of("/%s", name), O_RDONLY | O_NONBLOCK);
	TRY(queue);
	TRY(mq_receive(queue, text, sizeof text, NULL));
	note("%.40s", text);
	return 0;
}

static int posix_letter_sent(void)
{
	mqd_t queue = mq_open(path_of("/%s", name), O_WRONLY | O_NONBLOCK);
	TRY(queue);
	TRY(mq_send(queue, "planted", 8, 0));
	return 0;
}

static int queue_removed(void) { TRY(mq_unlink(path_of("/%s", name))); return 0; }
static int queue_file(void) { return take_from(open(path_of("/dev/mqueue/%s", name), O_RDONLY)); }
static int shared_file(void) { return take_from(open(path_of("/dev/shm/%s", name), O_RDONLY)); }
static int shared_file_written(void) { return put_into(open(path_of("/dev/shm/%s", name), O_WRONLY)); }
static int shared_file_removed(void) { TRY(shm_unlink(path_of("/%s", name))); return 0; }

static int shared_file_listed(void)
{
	DIR *listing = opendir("/dev/shm");
	struct dirent *entry;
	if (!listing) return errno;
	while ((entry = readdir(listing))) if (strcmp(entry->d_name, name) == 0) return 0;
	return NOTHING;
}

static int segment_listed(void)
{
	static char table[1 << 20];
	int fd = open("/proc/sysvipc/shm", O_RDONLY);
	size_t length = 0;
	ssize_t got;
	TRY(fd);
	while ((got = read(fd, table + length, sizeof table - 1 - length)) > 0) length += (size_t)got;
	return strstr(table, path_of("%d", key)) ? 0 : NOTHING;
}

static int segment_removed(void)
{
	int id = shmget(key, 0, 0);
	TRY(id);
	TRY(shmctl(id, IPC_RMID, NULL));
	return 0;
}

int main(int count, char **words)
{
	static const struct { const char *name; attempt *try; } routes[] = {
		{ "shmget", segment_by_key }, { "shm-stat", segment_by_index }, { "shm-write", segment_written },
		{ "proc-sysvipc", segment_listed }, { "msgrcv", letter_received }, { "msgsnd", letter_sent }, { "semop", semaphore_raised },
		{ "mq-receive", posix_letter }, { "mq-send", posix_letter_sent }, { "dev-mqueue", queue_file }, { "dev-shm-listing", shared_file_listed },
		{ "dev-shm-read", shared_file }, { "dev-shm-write", shared_file_written }, { "shm-unlink", shared_file_removed },
		{ "mq-unlink", queue_removed }, { "shm-rmid", segment_removed },
	};
	if (count != 3) return 64;
	key = (key_t)strtol(words[1], NULL, 10);
	name = words[2];
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) route(routes[i].name, routes[i].try);
	return 0;
}
