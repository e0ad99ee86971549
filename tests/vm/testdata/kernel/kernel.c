/*
 * Makes system calls of which it tells the results, for probes on functions of the kernel.
 *
 *	kernel open N		N times /etc/passwd and N times a file that is not there
 *	kernel block N		N threads sleep at the same time
 *	kernel ptys A B		types A into one pseudo-terminal and B into another
 *	kernel calls N		getppid N times
 *	kernel random N		N times the kernel's random numbers begin anew, and one is got
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void opens(int n)
{
	int i, fd;

	for (i = 0; i < n; i++) {
		fd = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0);
		printf("open %d\n", fd);
		if (i % 3)
			close(fd);
		fd = syscall(SYS_openat, AT_FDCWD, "/nowhere", O_RDONLY, 0);
		printf("open %d\n", fd < 0 ? -errno : fd);
	}
}

static void *sleeper(void *arg)
{
	struct timespec t = { 0, 700000000 };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
	return arg;
}

static void block(int n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t a;
	int i;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], &a, sleeper, NULL))
			abort();
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("slept %d\n", n);
}

/* Opens a terminal and gives both ends. */
static void terminal(int *master, int *slave)
{
	*master = posix_openpt(O_RDWR | O_NOCTTY);
	if (*master < 0 || grantpt(*master) || unlockpt(*master))
		abort();
	*slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
	if (*slave < 0)
		abort();
}

static void ptys(const char *a, const char *b)
{
	int am, as, bm, bs;

	terminal(&am, &as);
	terminal(&bm, &bs);
	printf("%s %s\n", ptsname(as) ? "" : ptsname(am), ptsname(bm));
	if (write(as, a, strlen(a)) < 0 || write(bs, b, strlen(b)) < 0)
		abort();
}

static int smaller(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

/* Calls getppid and tells what a call took, in ns: the median over blocks, most of which no timer tick disturbs. */
static void calls(int n)
{
	enum { BLOCK = 200 };
	long long *took = calloc(n / BLOCK + 1, sizeof(*took));
	struct timespec s, e;
	int i, done, block, blocks = 0;

	for (done = 0; done < n; done += block) {
		block = n - done < BLOCK ? n - done : BLOCK;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &s);
		for (i = 0; i < block; i++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &e);
		took[blocks++] = ((e.tv_sec - s.tv_sec) * 1000000000LL + e.tv_nsec - s.tv_nsec) / block;
	}
	if (!blocks)
		return;
	qsort(took, blocks, sizeof(*took), smaller);
	printf("per call %lld\n", took[blocks / 2]);
}

static void randoms(int n)
{
	int i, fd = open("/dev/urandom", O_RDONLY);
	char c;

	for (i = 0; i < n; i++)
		if (ioctl(fd, RNDRESEEDCRNG) || getrandom(&c, 1, 0) != 1)
			abort();
}

/* Messages of 1, 2, ... bytes by all system calls that send and receive them, through two sockets. */
static void messages(void)
{
	static char text[64];
	struct iovec v[3] = { { text, 4 }, { text, 5 }, { text, 6 } };
	struct mmsghdr m[3] = { { { .msg_iov = v, .msg_iovlen = 1 } }, { { .msg_iov = v + 1, .msg_iovlen = 1 } },
				{ { .msg_iov = v + 2, .msg_iovlen = 1 } } };
	struct msghdr one = { .msg_iov = v, .msg_iovlen = 1 };
	int s[2], i;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s))
		exit(3);
	write(s[0], text, 1);
	send(s[0], text, 2, 0);
	v[0].iov_len = 3;
	sendmsg(s[0], &one, 0);
	v[0].iov_len = 4;
	sendmmsg(s[0], m, 3, 0);
	send(s[0], text, 7, 0);
	for (i = 0; i < 3; i++)
		v[i].iov_len = sizeof(text);
	recv(s[1], text, sizeof(text), MSG_PEEK);
	read(s[1], text, sizeof(text));
	recv(s[1], text, sizeof(text), 0);
	recvmsg(s[1], &one, 0);
	recvmmsg(s[1], m, 3, 0, NULL);
	recv(s[1], text, sizeof(text), 0);
	recv(s[1], text, sizeof(text), MSG_DONTWAIT);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "open"))
		opens(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "block"))
		block(atoi(argv[2]));
	else if (argc == 4 && !strcmp(argv[1], "ptys"))
		ptys(argv[2], argv[3]);
	else if (argc == 3 && !strcmp(argv[1], "calls"))
		calls(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "random"))
		randoms(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "messages"))
		messages();
	else
		return 2;
	return 0;
}
