/* Types of every shape, and a main that prints their layout for the tests to compare. */
#include <stdio.h>
#include <stddef.h>
#include <stdbool.h>

enum level { LOW = -2, MID, HIGH = 200 };
enum plain { A, B, C };
typedef unsigned long long u64;
typedef int (*handler)(struct outer *, const char *, ...);
union val { int i; double d; char b[12]; };
struct opaque;
struct outer {
	char c;
	short s;
	const volatile int *const cvp;
	u64 big;
	union val v;
	struct { int x; struct { long y; }; };
	union { float f; unsigned u; };
	int grid[2][3][4];
	char *names[5];
	handler h;
	int (*rows)[7];
	struct outer *next, **link;
	struct opaque *hidden;
	enum level lv;
	enum plain pl;
	_Bool yes;
	long double ld;
	float _Complex fc;
	__int128 wide;
	unsigned char flags : 3;
	signed char neg : 4;
	unsigned int mid : 17;
	long long huge : 50;
	struct outer *(*make)(void);
	int tail[];
};
struct __attribute__((packed)) packed { char a; int b : 20; int c : 20; long long d : 60; short e; };
typedef struct { int anon; } named_by_typedef;
struct empty {};
struct outer one;
struct packed two;
named_by_typedef three;
struct empty four;
const char text[] = "text";
extern int elsewhere[];
void *nothing;

#define F(f) printf(#f " %zu %zu\n", offsetof(struct outer, f), sizeof(one.f))
int main(void)
{
	printf("sizeof %zu %zu\n", sizeof one, sizeof two);
	F(c); F(s); F(cvp); F(big); F(v); F(x); F(y); F(f); F(u); F(grid); F(names); F(h); F(rows); F(next); F(link); F(hidden);
	F(lv); F(pl); F(yes); F(ld); F(fc); F(wide); F(make);
	printf("tail %zu 0\n", offsetof(struct outer, tail));
	return 0;
}
