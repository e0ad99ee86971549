/* A load that counts itself: exload WHAT N does something N times and says how often, by what it counted, and what the
 * kernel counted for it in /proc. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long got;

static void signalled(int sig)
{
	got++;
}

/* proc copies a file of /proc/self whose lines are "name: number". */
static void proc(const char *path)
{
	static char text[4096], *line;
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof text - 1);
	long value;
	char name[64];

	close(fd);
	text[n < 0 ? 0 : n] = 0;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (sscanf(line, "%63[a-z_]: %ld", name, &value) == 2)
			fprintf(stderr, "%s %ld\n", name, value);
}

static void say(const char *name, long n)
{
	fprintf(stderr, "%s %ld\n", name, n);
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	long n = atol(argv[2]), i, done = 0, bytes = 0;
	struct timespec nap = {0, 2000000};
	char buf[4096] = {1};

	if (!strcmp(what, "calls") && !n)
		return 0; /* what is executed by "execs" */
	setvbuf(stderr, malloc(8192), _IOFBF, 8192);
	if (!strcmp(what, "calls")) {
		for (i = 0; i < n; i++)
			done += syscall(SYS_sched_get_priority_max, SCHED_FIFO) > 0;
	} else if (!strcmp(what, "late")) {
		for (i = 0; i < n; i++)
			done += syscall(SYS_sched_get_priority_max, SCHED_FIFO) > 0;
		sleep(6);
	} else if (!strcmp(what, "files")) {
		int fd = open("load.file", O_RDWR | O_CREAT | O_TRUNC, 0600);

		for (i = 0; i < n; i++)
			done += write(fd, buf, 100) == 100;
		lseek(fd, 0, SEEK_SET);
		for (i = 0; i < n; i++)
			bytes += read(fd, buf, 100);
		close(fd);
		say("bytes", bytes);
		proc("/proc/self/io");
	} else if (!strcmp(what, "opens")) {
		close(open("load.file", O_RDWR | O_CREAT, 0600));
		for (done = 1, i = 0; i < n; i++) {
			int fd = syscall(SYS_open, "load.file", O_RDONLY);

			done += fd >= 0;
			close(fd);
		}
	} else if (!strcmp(what, "missing")) {
		for (i = 0; i < n; i++)
			done += unlink("none.file") < 0 && errno == ENOENT;
	} else if (!strcmp(what, "forks")) {
		for (i = 0; i < n; i++) {
			pid_t p = fork();

			if (!p)
				_exit(0);
			done += wait4(p, NULL, 0, NULL) == p;
		}
	} else if (!strcmp(what, "execs")) {
		for (i = 0; i < n; i++) {
			pid_t p = fork();
			int status = 1;

			if (!p) {
				execl("./exchild", "exchild", "calls", "0", NULL);
				_exit(1);
			}
			waitpid(p, &status, 0);
			done += status == 0;
		}
	} else if (!strcmp(what, "sleeps")) {
		struct timespec a, b;

		for (i = 0; i < n; i++) {
			clock_gettime(CLOCK_MONOTONIC, &a);
			done += nanosleep(&nap, NULL) == 0;
			clock_gettime(CLOCK_MONOTONIC, &b);
			bytes += (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
		}
		say("microseconds", bytes);
	} else if (!strcmp(what, "signals")) {
		signal(SIGUSR1, signalled);
		for (i = 0; i < n; i++)
			kill(getpid(), SIGUSR1);
		done = got;
	} else if (!strcmp(what, "kills")) {
		for (i = 0; i < n; i++) {
			pid_t p = fork();
			int status = 0;

			if (!p)
				for (;;)
					pause();
			kill(p, SIGKILL);
			waitpid(p, &status, 0);
			done += WIFSIGNALED(status);
		}
	} else if (!strcmp(what, "semops")) {
		int id = semget(IPC_PRIVATE, 1, 0600);
		struct sembuf up = {0, 1, 0};

		for (i = 0; i < n; i++)
			done += semop(id, &up, 1) == 0;
		say("value", semctl(id, 0, GETVAL));
		semctl(id, 0, IPC_RMID);
	} else if (!strcmp(what, "connects")) {
		struct sockaddr_in a = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}};
		socklen_t len = sizeof a;
		int s = socket(AF_INET, SOCK_STREAM, 0);

		bind(s, (void *)&a, len);
		listen(s, 128);
		getsockname(s, (void *)&a, &len);
		for (i = 0; i < n; i++) {
			int c = socket(AF_INET, SOCK_STREAM, 0), d;

			connect(c, (void *)&a, sizeof a);
			d = syscall(SYS_accept, s, NULL, NULL);
			done += d >= 0;
			close(d);
			close(c);
		}
	} else if (!strcmp(what, "sockets")) {
		for (i = 0; i < n; i++) {
			int s = socket(AF_INET, SOCK_DGRAM, 0);

			done += s >= 0;
			close(s);
		}
	} else if (!strcmp(what, "polls")) {
		for (i = 0; i < n; i++)
			done += poll(NULL, 0, 2) == 0;
	} else if (!strcmp(what, "pingpong")) {
		int to[2], from[2], status;

		if (pipe(to) || pipe(from))
			return 1;
		if (!fork()) {
			while (read(to[0], buf, 1) == 1)
				if (write(from[1], buf, 1) != 1 || ++got == n)
					break;
			_exit(0);
		}
		for (i = 0; i < n; i++)
			done += write(to[1], buf, 1) == 1 && read(from[0], buf, 1) == 1;
		wait(&status);
	} else if (!strcmp(what, "spin")) {
		struct rusage u;

		do
			getrusage(RUSAGE_SELF, &u);
		while (u.ru_utime.tv_sec * 1000000 + u.ru_utime.tv_usec + u.ru_stime.tv_sec * 1000000 + u.ru_stime.tv_usec < n);
		done = u.ru_utime.tv_sec * 1000000 + u.ru_utime.tv_usec + u.ru_stime.tv_sec * 1000000 + u.ru_stime.tv_usec;
	} else if (!strcmp(what, "datagrams")) {
		struct sockaddr_in a = {AF_INET, 0, {htonl(0x7f010203)}};
		socklen_t len = sizeof a;
		int s = socket(AF_INET, SOCK_DGRAM, 0);

		bind(s, (void *)&a, len);
		getsockname(s, (void *)&a, &len);
		for (i = 0; i < n; i++)
			done += sendto(s, buf, 100, 0, (void *)&a, sizeof a) == 100 && recv(s, buf, 100, 0) == 100;
	}
	say("pid", getpid());
	say("did", done);
	return 0;
}
