// As main.go, for C.
#include <complex.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vec { double x; float y, z; };
struct flat { float x, y; };
struct mixed { double x; long n; };

#define FN __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef FN
#define FN __attribute__((noinline, optnone))
#endif
#ifdef O2
#undef FN
#define FN __attribute__((noinline))
#endif

#define KEPT __asm__ volatile("" ::: "memory") // calls whose result is known are made all the same
FN double one(int n, double x, float y) { KEPT; return x + y + n; }
FN double many(double a, double b, double c, double d, double e, double f, double g, double h, double i, float j)
{
	return a + b + c + d + e + f + g + h + i + j;
}
FN float lesser(float a, double b) { return a - (float)b; }
FN struct vec move(struct vec v, float by)
{
	v.x += by; v.y -= by; v.z *= by;
	return v;
}
FN struct flat swap(struct flat v)
{
	struct flat w = { v.y, v.x };
	return w;
}
FN struct mixed both(struct mixed m, double by)
{
	m.x *= by; m.n++;
	return m;
}
FN double _Complex plane(double _Complex z, float _Complex w) { return z + w; }
FN double check(long n, double half, float third) { return third < 0 ? n : half * 4; }
FN double zero(double x) { KEPT; return x; }

static void say(const char *what, int n, const double *xs)
{
	printf("own %s", what);
	for (int i = 0; i < n; i++) {
		if (isnan(xs[i]))
			printf(" nan");
		else
			printf(" %.17g", xs[i]);
	}
	printf("\n");
}
#define SAY(what, ...) say(what, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), (double[]){ __VA_ARGS__ })

static double draw(void)
{
	static const double edges[] = { 0, -0.0, NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 0x1p-1074, -0x3p-1074, FLT_MAX,
		0x1p-149, 1, -1, DBL_MIN, FLT_MIN, 1e16 + 2 };
	static int at;
	unsigned long bits = (unsigned long)random() << 33 ^ (unsigned long)random() << 10 ^ random();
	double x;

	if (at++ < 48)
		return edges[at % 16];
	if (random() % 3 == 0) {
		bits &= ~(1UL << 62);
		memcpy(&x, &bits, 8);
		return x;
	}
	return (random() % 2000000 - 1000000) / 512.0;
}

static int rounds;
static volatile double sink;

static void *runs(void *arg)
{
	long g = (long)arg;
	for (long i = 0; i < rounds * 5; i++) {
		long n = g * 100000 + i;
		if (check(n, n / 2.0, n / 3.0f) != n * 2.0)
			abort();
		if (i % 16 == 0)
			sched_yield();
	}
	return 0;
}

int main(int argc, char **argv)
{
	rounds = atoi(argv[1]);
	for (int i = 0; i < rounds; i++) {
		double x = draw(), v[10];
		float y = draw(), by = draw();
		SAY("one", i, x, y, one(i, x, y));
		for (int k = 0; k < 10; k++)
			v[k] = draw();
		SAY("many", v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], (float)v[9],
			many(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]));
		SAY("lesser", y, x, lesser(y, x));
		struct vec w = { draw(), draw(), draw() }, u = move(w, by);
		SAY("move", w.x, w.y, w.z, by, u.x, u.y, u.z);
		float fx = draw(), fy = draw();
		__asm__ volatile("" : "+x"(fx), "+x"(fy)); // else gcc 12 takes them for numbers of 64 bits when it says them
		struct flat f = { fx, fy }, s = swap(f);
		SAY("swap", fx, fy, s.x, s.y);
		struct mixed m = { draw(), i }, o = both(m, x);
		SAY("both", m.x, m.n, x, o.x, o.n);
		double _Complex z = draw() + I * 2.0, zz = plane(z, y + 3.0f * I);
		SAY("plane", creal(z), cimag(z), y, 3, creal(zz), cimag(zz));
	}
	sink = one(-1, 1.5, -0.25f);
	sink = zero(sink * 0);
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2; pxor %%xmm3, %%xmm3;"
		"pxor %%xmm4, %%xmm4; pxor %%xmm5, %%xmm5; pxor %%xmm6, %%xmm6; pxor %%xmm7, %%xmm7; pxor %%xmm8, %%xmm8;"
		"pxor %%xmm9, %%xmm9; pxor %%xmm10, %%xmm10; pxor %%xmm11, %%xmm11; pxor %%xmm12, %%xmm12;"
		"pxor %%xmm13, %%xmm13; pxor %%xmm14, %%xmm14; pxor %%xmm15, %%xmm15" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		"xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	sink = zero(0);

	pthread_t t[8];
	for (long g = 0; g < 8; g++)
		pthread_create(&t[g], 0, runs, (void *)g);
	for (int g = 0; g < 8; g++)
		pthread_join(t[g], 0);
	printf("own checks %d\n", rounds * 5 * 8);
	return 0;
}
