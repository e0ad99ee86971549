/* A load for examples in a guest: loads WHAT N does something N times and says, as "name number", how often it did and
 * what the kernel counted meanwhile. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096L
#define HUGE (2L << 20)
#define COLLAPSE 25 /* MADV_COLLAPSE, since 6.1 */

long freepages(void);

/* The kernel's own counts, before and after. */

/* minor is this process' count of minor faults: field 10 of its stat. */
static long minor(void)
{
	long n = -1;
	FILE *f = fopen("/proc/self/stat", "r");

	if (f && fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* vmstat is a counter of events of the whole machine. */
static long vmstat(const char *name)
{
	char key[64];
	long n;
	FILE *f = fopen("/proc/vmstat", "r");

	while (f && fscanf(f, "%63s %ld", key, &n) == 2)
		if (!strcmp(key, name)) {
			fclose(f);
			return n;
		}
	return -1;
}

/* interrupts adds up the lines of /proc/interrupts that name something, over all CPUs. */
static long interrupts(const char *name)
{
	char line[1024], *s, *end;
	long sum = 0, n;
	FILE *f = fopen("/proc/interrupts", "r");

	while (f && fgets(line, sizeof line, f)) {
		if (!strstr(line, name) || !(s = strchr(line, ':')))
			continue;
		for (s++;; s = end) {
			n = strtol(s, &end, 10);
			if (end == s)
				break;
			sum += n;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

/* reads is how many reads the first disk has completed. */
static long reads(void)
{
	long n = -1;
	FILE *f = fopen("/sys/block/vda/stat", "r");

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static char *map(void *at, long size, int flags)
{
	char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* aligned gives memory at a place where huge pages begin. */
static char *aligned(long size)
{
	char *p = map(NULL, size + HUGE, 0);

	return p + (HUGE - (long)p % HUGE) % HUGE;
}

/* A lock that counts how often somebody waits for it in the kernel: 0 free, 1 taken, 2 taken and waited for. */
static atomic_int word;
static atomic_long waits;

static void *contend(void *turns)
{
	struct timespec nap = {0, 300000};
	long i, n = (long)turns;

	for (i = 0; i < n; i++) {
		int c = 0;

		if (!atomic_compare_exchange_strong(&word, &c, 1)) {
			if (c != 2)
				c = atomic_exchange(&word, 2);
			while (c) {
				waits++;
				syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
				c = atomic_exchange(&word, 2);
			}
		}
		nanosleep(&nap, NULL);
		if (atomic_fetch_sub(&word, 1) != 1) {
			atomic_store(&word, 0);
			syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	long n = atol(argv[2]), i, done = 0, before;
	static char buf[2 * PAGE];

	if (!strcmp(what, "faults")) {
		char *p = map((void *)0x100000000000, n * PAGE, MAP_FIXED_NOREPLACE);

		madvise(p, n * PAGE, MADV_NOHUGEPAGE);
		minor(); /* what reading it takes is there from now on */
		before = minor();
		for (i = 0; i < n; i++, done++)
			p[i * PAGE] = 1;
		printf("minflt %ld\n", minor() - before);
	} else if (!strcmp(what, "cache")) {
		int fd = open("/tmp/ram/load.file", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		for (i = 0; i < n; i++)
			done += write(fd, buf, PAGE) == PAGE;
	} else if (!strcmp(what, "refused")) {
		for (i = 0; i < n; i++)
			done += mmap(NULL, 1L << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
				MAP_FAILED && errno == ENOMEM;
	} else if (!strcmp(what, "huge")) {
		char *p = aligned(n * HUGE);

		before = vmstat("thp_fault_alloc");
		madvise(p, n * HUGE, MADV_HUGEPAGE);
		for (i = 0; i < n; i++, done++)
			p[i * HUGE] = 1;
		printf("thp_fault_alloc %ld\n", vmstat("thp_fault_alloc") - before);
	} else if (!strcmp(what, "copies")) {
		char *p = map(NULL, n * HUGE, MAP_HUGETLB);
		int status = 1;

		for (i = 0; i < n; i++)
			p[i * HUGE] = 1;
		if (!fork()) {
			for (i = 0; i < n; i++)
				done += ++p[i * HUGE] == 2;
			_exit(done);
		}
		wait(&status);
		for (done = WEXITSTATUS(status), i = 0; i < n; i++)
			done -= p[i * HUGE] != 1;
	} else if (!strcmp(what, "collapses")) {
		char *p = aligned(n * HUGE);

		before = vmstat("thp_collapse_alloc");
		madvise(p, n * HUGE, MADV_NOHUGEPAGE);
		for (i = 0; i < n * HUGE; i += PAGE)
			p[i] = 1;
		madvise(p, n * HUGE, MADV_HUGEPAGE);
		for (i = 0; i < n; i++)
			done += madvise(p + i * HUGE, HUGE, COLLAPSE) == 0;
		printf("thp_collapse_alloc %ld\n", vmstat("thp_collapse_alloc") - before);
	} else if (!strcmp(what, "disk")) {
		int fd = open("/dev/vda", O_RDONLY | O_DIRECT);
		char *p = buf + PAGE - (long)buf % PAGE;
		long r = reads(), q = interrupts("-req.");

		for (i = 0; i < n; i++)
			done += pread(fd, p, PAGE, i * PAGE) == PAGE;
		printf("reads %ld\ninterrupts %ld\n", reads() - r, interrupts("-req.") - q);
		sleep(1); /* some examples print ten times a second */
	} else if (!strcmp(what, "names")) { /* names that are there, each with one that is not, n times */
		struct stat st;
		char name[64];

		if (chdir("/mnt") || stat("file", &st))
			return 1;
		for (i = 0; i < n; i++) {
			snprintf(name, sizeof name, "absent%ld-%ld", n, i);
			done += !stat("file", &st) + (stat(name, &st) && errno == ENOENT);
		}
	} else if (!strcmp(what, "pages")) { /* pages that are not in memory, each twice, none read ahead */
		int fd = open("/mnt/file", O_RDONLY), turn;

		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		for (turn = 0; turn < 2; turn++)
			for (i = 0; i < n; i++)
				done += pread(fd, buf, PAGE, 3 * i * PAGE) == PAGE;
	} else if (!strcmp(what, "packets")) { /* of 1000 bytes, each received in pieces of 300 */
		int s[2];
		long got;

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
			return 1;
		for (i = 0; i < n; i++) {
			if (write(s[0], buf, 1000) != 1000)
				return 1;
			for (before = done; done < before + 1000 && (got = read(s[1], buf, 300)) > 0; )
				done += got;
		}
	} else if (!strcmp(what, "errors")) { /* reads of a disk that has no good block */
		int fd = open("/dev/nullb0", O_RDONLY | O_DIRECT);
		char *p = buf + PAGE - (long)buf % PAGE;

		for (i = 0; i < n; i++)
			done += pread(fd, p, PAGE, i * PAGE) < 0 && errno == EIO;
	} else if (!strcmp(what, "flushes")) { /* of a device of disks */
		int fd = open("/dev/md0", O_RDWR);

		for (i = 0; i < n; i++)
			done += pwrite(fd, buf, PAGE, i * PAGE) == PAGE && !fsync(fd);
	} else if (!strcmp(what, "memory")) { /* pages, and nobody else runs on the first CPU */
		char *p = map(NULL, n * PAGE, 0);
		struct sched_param first = { .sched_priority = 10 };
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(0, &one);
		if (sched_setaffinity(0, sizeof one, &one) || sched_setscheduler(0, SCHED_FIFO, &first))
			return 1;

		for (i = 0; i < n; i++)
			p[i * PAGE] = 1;
		done = freepages();
	} else if (!strcmp(what, "lock")) {
		pthread_t a, b;

		pthread_create(&a, NULL, contend, (void *)n);
		pthread_create(&b, NULL, contend, (void *)n);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
		done = waits;
	}
	printf("pid %d\ndid %ld\n", getpid(), done);
	return 0;
}
