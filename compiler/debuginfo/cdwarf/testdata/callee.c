/* The functions that the tests trace. main.c calls each with known arguments. */
#include "callee.h"

int counter = 7;
static volatile int hidden = 100;
__thread int tls_first = 3;
__thread long tls_second = 44;
struct node *head;

#define OUT __attribute__((noinline, noclone))

OUT long many(int a, signed char b, short c, unsigned d, long e, const char *s, long g, int h)
{
	return a + b + c + d + e + s[0] + g + h;
}

OUT double floats(double x, float y, int i)
{
	return x * y + i;
}

OUT int structs(struct pair p, struct mixed m, struct big b, struct fl f, struct small s)
{
	return p.a + p.b + m.d + m.i + b.x[4] + f.a + f.b + s.c;
}

OUT struct pair rpair(long a) { struct pair p = {a, a + 1}; return p; }
OUT struct mixed rmixed(int i) { struct mixed m = {i / 2.0, i}; return m; }
OUT struct big rbig(int i) { struct big b = {{i, i + 1, i + 2, i + 3, i + 4}}; return b; }
OUT struct fl rfl(float f) { struct fl x = {f, -f}; return x; }
OUT struct small rsmall(int i) { struct small s = {i, 'x', 5, -3}; return s; }
OUT long double rld(int i) { return i; }
OUT _Bool rbool(int i) { return i > 3; }
OUT short rshort(int i) { return -i; }
OUT float rfloat(int i) { return i * 1.5f; }
OUT __int128 rwide(long i) { return (__int128)i << 64 | 9; }
OUT enum color rcolor(int i) { return i; }
OUT struct node *rnode(struct node *n) { return n->next; }
OUT void rvoid(int i) { counter += i; }

OUT int variadic(int n, const char *fmt, ...)
{
	__builtin_va_list ap;
	__builtin_va_start(ap, fmt);
	int s = 0;
	for (int i = 0; i < n; i++)
		s += __builtin_va_arg(ap, int);
	__builtin_va_end(ap);
	return s;
}

OUT void loopfirst(int n, double scale)
{
	do {
		counter += scale;
	} while (--n);
}

static inline int twice(int v)
{
	int w = v + v;
	return w + hidden;
}

static int helper(int x) __attribute__((noinline, noclone));
static int helper(int x)
{
	static int calls = 20;
	calls++;
	return x * calls;
}

OUT int blocks(int n)
{
	int total = 0;
	for (int i = 0; i < n; i++) {
		int n = i * 10;
		total += helper(n);
	}
	if (total > 1) {
		int t = twice(total);
		total += t;
	}
	return total;
}

OUT int useall(struct node *n, union u u, struct bits b, enum color c, int (*cb)(int, char *))
{
	tls_first++;
	tls_second += n->val;
	return n->val + u.i + b.low + c + cb(1, 0) + tls_first;
}

OUT int oneline(int a) { int x = a * 3; helper(x); return x; }

int also(int) __attribute__((alias("oneline")));

OUT int old(a, c) int a; char c; { return a + c; }

OUT int guarded(int n, const char *src)
{
	char buf[64];
	int i;
	for (i = 0; i < n && src[i]; i++)
		buf[i] = src[i];
	buf[i] = 0;
	return buf[0] + i;
}

OUT int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
