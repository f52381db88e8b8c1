/*
 * Not an attack: IPC objects of the host, under a key and a name of their own,
 * readable by all. Prints "ready"; at the end of its input prints
 *   {"untouched":true|false}
 * and removes them. Usage: ipc-host KEY NAME
 */
#include "route.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

struct letter { long type; char text[64]; };

int main(int count, char **words)
{
	char byte, text[128] = "";
	if (count != 3) return 64;
	key_t key = (key_t)strtol(words[1], NULL, 10);
	char *name = path_of("/%s", words[2]);
	struct letter letter = { 1, "SECRET letter" };
	struct mq_attr size = { .mq_maxmsg = 4, .mq_msgsize = 64 }, state;

	umask(0);
	int segment = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666), queue = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
	int semaphore = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666), file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0666);
	mqd_t posix_queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0666, &size);
	char *memory = segment < 0 ? (char *)-1 : shmat(segment, NULL, 0);
	bool made = memory != (char *)-1 && queue >= 0 && semaphore >= 0 && file >= 0 && posix_queue >= 0;
	if (made) {
		strcpy(memory, "SECRET segment");
		made = msgsnd(queue, &letter, sizeof letter.text, 0) == 0 && mq_send(posix_queue, letter.text, sizeof letter.text, 0) == 0
			&& write(file, "SECRET file\n", 12) == 12;
	}
	if (made) {
		puts("ready");
		fflush(stdout);
		while (read(0, &byte, 1) > 0) {}
		struct msqid_ds letters = {0};
		struct shmid_ds facts = {0};
		bool untouched = msgctl(queue, IPC_STAT, &letters) == 0 && letters.msg_qnum == 1
			&& mq_getattr(posix_queue, &state) == 0 && state.mq_curmsgs == 1
			&& semctl(semaphore, 0, GETVAL) == 0 && memory[64] == 0
			&& shmctl(segment, IPC_STAT, &facts) == 0 && !(facts.shm_perm.mode & SHM_DEST)
			&& pread(file, text, sizeof text, 0) == 12 && access(path_of("/dev/shm%s", name), F_OK) == 0;
		mqd_t again = mq_open(name, O_RDONLY);
		printf("{\"untouched\":%s}\n", untouched && again >= 0 ? "true" : "false");
	}
	shmctl(segment, IPC_RMID, NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphore, 0, IPC_RMID);
	mq_unlink(name);
	shm_unlink(name);
	return made ? 0 : 1;
}
