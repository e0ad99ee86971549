#include "callee.h"

struct opaque { int secret; };
static volatile int hidden = 200;
volatile int sink;

static int helper(int x) __attribute__((noinline, noclone));
static int helper(int x) { return x + hidden; }
__attribute__((noinline, noclone)) int other(int x) { return helper(x); }

static int callback_fn(int a, char *b) { return a + (b != 0); }

int main(void)
{
	static struct opaque op = {77};
	static struct node n2 = {.val = 22, .name = "second"};
	static struct node n1 = {.val = 11, .name = "first", .next = &n2, .op = &op};
	struct pair p = {1, -2};
	struct mixed m = {2.5, 3};
	struct big b = {{10, 20, 30, 40, 50}};
	struct fl f = {1.5f, -1.5f};
	struct small s = {1000, 'q', 7, -1};
	union u u = {.i = 0x41424344};
	struct bits bits = {5, -9, 0x123456789a, 1};
	n1.inner = 31;
	n1.s = 32;
	n1.grid[1][2] = 6;
	head = &n1;
	sink += many(-1, -2, -3, 4000000000u, 5, "six", 7, -8);
	sink += floats(1.25, 2.5f, 4);
	sink += structs(p, m, b, f, s);
	sink += rpair(5).b + rmixed(7).i + rbig(3).x[4] + rfl(2.5f).a + rsmall(6).i;
	sink += rld(3) + rbool(4) + rshort(300) + rfloat(3) + rwide(2) + rcolor(BLUE) + rnode(&n1)->val;
	rvoid(1);
	sink += variadic(2, "fmt", 10, 20);
	loopfirst(3, 1.0);
	sink += blocks(2);
	sink += useall(&n1, u, bits, GREEN, callback_fn);
	sink += oneline(5) + old(6, 'c') + guarded(3, "abc") + fact(4) + other(1);
	return 0;
}
