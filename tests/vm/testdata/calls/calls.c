// Makes system calls whose arguments and results a script changes, and says what came of them and whether the registers
// are the caller's own afterwards. With an argument it does one that waits, once others are changed.
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static char program[] = "/bin/nothing";

static long call(long nr, long a, long b, long c, int *same)
{
	long ret, x = a, y = b, z = c;

	__asm__ volatile("syscall" : "=a"(ret), "+D"(x), "+S"(y), "+d"(z) : "0"(nr) : "rcx", "r11", "memory");
	*same = x == a && y == b && z == c;
	return ret;
}

int main(int argc, char **argv)
{
	char buf[16] = "0123456789";
	int same, fds[2];
	long r;

	if (argc > 1) {
		while (call(SYS_getppid, 1, 2, 3, &same) != 4711)
			usleep(10000);
		r = call(SYS_read, 0, (long)buf, 6, &same);
		printf("waited %ld %s same %d\n", r, buf, same);
		return 0;
	}
	if (pipe(fds) || write(fds[1], "abcdefgh", 8) != 8)
		return 1;
	r = call(SYS_read, fds[0], (long)buf, 6, &same);
	printf("read %ld %s same %d\n", r, buf, same);
	r = call(SYS_lseek, 99, 0, 0, &same);
	printf("lseek %ld same %d\n", r, same);
	r = call(SYS_getppid, 1, 2, 3, &same);
	printf("getppid %ld same %d\n", r, same);
	r = call(SYS_dup, 99, 2, 3, &same);
	printf("dup %s same %d\n", r > 2 ? "ok" : "bad", same);
	fflush(stdout);
	execl(program, program, "ran", (char *)0);
	printf("exec %d\n", errno);
	return 1;
}
