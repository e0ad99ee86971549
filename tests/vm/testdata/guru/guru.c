// A program whose values are changed while it runs.
#include <stdio.h>

struct point {
	int x, y;
	unsigned low : 3, high : 5;
	long z;
};
struct pair {
	int a, b;
};

struct bits {
	unsigned low : 3, high : 5;
	signed mid : 6;
	short rest;
};

static struct point pt = {1, 2, 3, 4, 5};
long shared = 100;

__attribute__((noinline)) int traceme(int a, int b) { return a + b; }
__attribute__((noinline)) long sum(struct point *p, char *s)
{
	return p->x * 1000000L + p->y * 10000 + p->low * 1000 + p->high * 100 + p->z + s[0];
}
__attribute__((noinline)) int both(struct pair t) { return t.a * 100 + t.b; }
__attribute__((noinline)) int fields(struct bits t) { return t.low * 1000000 + t.high * 10000 + t.mid * 100 + t.rest; }
__attribute__((noinline)) int unused(int a, int b) { return b; }
__attribute__((noinline)) long wide(signed char a, unsigned short b, int c)
{
	return a * 1000000L + b * 1000L + c;
}

int main(void)
{
	char s[2] = "a";

	printf("traceme %d\n", traceme(1, 2));
	printf("sum %ld\n", sum(&pt, s));
	printf("both %d\n", both((struct pair){1, 2}));
	printf("fields %d\n", fields((struct bits){1, 2, -3, 4}));
	printf("unused %d\n", unused(1, 2));
	printf("wide %ld\n", wide(1, 2, 3));
	printf("shared %ld\n", shared);
	return 0;
}
