/* Code with inlined calls, blocks, recursion and cold parts. */
#include <stdio.h>
#include <stdlib.h>

static inline int square(int v) { int sq = v * v; return sq; }
static inline int sum2(int a, int b) { if (a > 3) { int s = square(a) + square(b); return s; } return a - b; }

__attribute__((noinline)) int work(int n, char **argv)
{
	int acc = 0;
	for (int i = 0; i < n; i++) {
		int t = atoi(argv[i % n]);
		acc += sum2(t, i);
		if (acc < 0) {
			fprintf(stderr, "negative %d\n", acc);
			abort();
		}
	}
	return acc;
}

__attribute__((noinline)) long depth(int n) { char pad[100]; pad[n] = n; return n ? depth(n - 1) + pad[n] : 0; }

__thread int tls = 9;
int table[4] = {1, 2, 3, 4};

int main(int argc, char **argv)
{
	volatile double d = 1.5;
	tls += argc;
	return work(argc, argv) + depth(3) + table[argc & 3] + (int)d + sum2(argc, 2) == 0;
}
