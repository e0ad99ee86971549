// Functions whose parameters stay what they are, in few registers: where each of them is read, it is what it was at
// the entry.
struct parts { signed char a; short b; signed char c; };
struct flags { unsigned a; unsigned char b, c; unsigned d : 3; };
struct held {
	int a; short b; long c;
	held(const held &o) : a(o.a), b(o.b), c(o.c) {}
	held(int n) : a(n), b(n + 1), c(n + 2) {}
};
struct three { long a, b, c; };
volatile long sink;

__attribute__((noinline)) void tell(int f, int i, long v) { sink += f + i + v; }
__attribute__((noinline)) long lots(int a, long b, int c, long d, int e, int f, long g, int h, long i)
{
	return a + b + c + d + e + f + g + h + i;
}

__attribute__((noinline)) long in_registers(bool p0, unsigned p1, parts p2, parts p3, char *p4, long *p5,
	long p6, bool p7, int *p8)
{
	sink += 1;
	tell(1, 0, p0);
	tell(1, 1, p1);
	tell(1, 2, p2.a);
	tell(1, 3, p2.b);
	tell(1, 4, p2.c);
	tell(1, 5, p3.a);
	tell(1, 6, p3.b);
	tell(1, 7, p3.c);
	tell(1, 8, *p4);
	sink += lots(1, 2, 3, 4, 5, 6, 7, 8, sink);
	tell(1, 9, p4[1]);
	tell(1, 10, p5[0]);
	tell(1, 11, p6);
	tell(1, 12, p7);
	tell(1, 13, *p8);
	long r = sink;
	tell(1, 14, r);
	return r;
}

__attribute__((noinline)) long on_the_stack(long p0, signed char p1, float p2, int *p3, bool p4, int *p5, flags p6)
{
	volatile char room[82]; room[3] = 1; sink += room[3];
	sink += 4;
	tell(4, 0, p0);
	tell(4, 1, p1);
	tell(4, 2, *p3);
	tell(4, 3, p4);
	tell(4, 4, *p5);
	sink += lots(4, 2, 3, 4, 5, 6, 7, 8, sink);
	tell(4, 5, p6.a);
	tell(4, 6, p6.b);
	tell(4, 7, p6.c);
	tell(4, 8, p6.d);
	long r = sink;
	tell(4, 9, r);
	return r;
}

__attribute__((noinline)) held by_address(char p0, bool p1, bool p2, unsigned p3, float p4, int p5,
	signed char p6, held p7)
{
	volatile char room[84]; room[3] = 1; sink += room[3];
	sink += 4;
	tell(5, 0, p0);
	tell(5, 1, p1);
	tell(5, 2, p2);
	tell(5, 3, p3);
	tell(5, 4, p5);
	sink += lots(4, 2, 3, 4, 5, 6, 7, 8, sink);
	tell(5, 5, p6);
	tell(5, 6, p7.a);
	tell(5, 7, p7.b);
	tell(5, 8, p7.c);
	held r(sink);
	tell(5, 9, r.a);
	tell(5, 10, r.c);
	return r;
}

__attribute__((noinline)) long worked_out(long *p0, long p1, long p2, long p3, long p4, long p5)
{
	long *ahead = p0 + 3;
	long f = sink, g = sink + 1, h = sink * 2, i = sink * 3, j = sink * 5, k = sink * 7, l = sink * 11;
	sink += lots(1, p1, 2, p2, 3, f, g, h, i);
	tell(6, 0, ahead[0] + j + k + l);
	sink += lots(p1, p2, p3, p4, p5, f, g, h, i) + lots(j, k, l, f, g, h, i, j, k);
	tell(6, 1, ahead[1] + f + g + h + i + j + k + l);
	tell(6, 2, p0[0] + p1 + p2 + p3 + p4 + p5);
	return ahead[2] + f + g;
}

__attribute__((noinline)) void fill(three *p, char *room) { p->a = 1; p->b = 2; p->c = 3; room[0] = 4; }

__attribute__((noinline)) long realigned(long p0)
{
	alignas(64) char room[128];
	three local;
	fill(&local, room);
	sink += p0;
	fill(&local, room);
	sink += local.b + room[0];
	return sink;
}

int main()
{
	realigned(5);
	static long v[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static int n = 77;
	static char s[] = "text";
	parts p = {3, -300, 5}, q = {-108, -19030, -64};
	flags f = {0x12345678, 200, 100, 5};
	in_registers(true, 9, p, q, s, v, -5, true, &n);
	on_the_stack(-7, 8, 0.5f, &n, true, &n, f);
	by_address('a', true, false, 55, 0.5f, 6, -9, held(56));
	worked_out(v, 3, 4, 5, 6, 7);
}
