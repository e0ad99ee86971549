package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// unwinding writes a program of random functions that raise, catch and pass on exceptions (panics, longjmp), and
// count how often each of them was entered and how often it got to its end. The program prints a sum and, for each
// function, "COUNT name entries returns tail": tail is 1 for functions that end with the call of another one, which
// the compiler may turn into a jump.
type unwinding struct {
	*rand.Rand
	n    int
	body strings.Builder
	tail []bool
}

func newUnwinding(seed uint64, n int) *unwinding {
	return &unwinding{Rand: rand.New(rand.NewPCG(seed, 8)), n: n, tail: make([]bool, n)}
}

// later names a function behind i, or the leaf if there is none.
func (u *unwinding) later(i int) int {
	if i+1 >= u.n {
		return u.n - 1
	}
	return i + 1 + u.IntN(min(u.n-i-1, 6))
}

func (u *unwinding) printf(format string, args ...any) { fmt.Fprintf(&u.body, format, args...) }

const unwindCXXHead = `#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#define NI __attribute__((noinline))
static long E[200], R[200]; static long sum, budget = 6000;
struct Err { int n; virtual ~Err() {} };
struct Worse : Err { std::string why; };
struct Obj { std::string s; long *p; Obj(long *q) : s("a string that is on the heap, as it is long"), p(q) {} ~Obj() { ++*p; } };
struct Big { long a[5]; };
extern "C" int through(int (*f)(int), int x);
extern "C" int sorted(int (*f)(int), int x);
extern "C" int jumped(int x);
extern "C" long jumpE[4], jumpR[4];
`

// unwindC is the part in C, built with -fexceptions: exceptions pass through it.
const unwindC = `#include <setjmp.h>
#include <stdlib.h>
#define NI __attribute__((noinline))
long jumpE[4], jumpR[4];
NI int through(int (*f)(int), int x) { jumpE[0]++; int v = f(x); jumpR[0]++; return v + 1; }
static int (*callback)(int); static int given;
static int compare(const void *a, const void *b) { return callback(given) & 1 ? *(int *)a - *(int *)b : *(int *)b - *(int *)a; }
NI int sorted(int (*f)(int), int x) { int v[4] = {3, 1, 2, x}; jumpE[1]++; callback = f; given = x; qsort(v, 4, sizeof *v, compare); jumpR[1]++; return v[1]; }
static jmp_buf home;
NI int deeper(int n) { jumpE[2]++; volatile char room[32]; room[n & 31] = n; if (n == 0) longjmp(home, 7); int v = n % 5 ? deeper(n - 1) + room[n & 31] : n; jumpR[2]++; return v; }
NI int jumped(int x) { jumpE[3]++; int v = setjmp(home); if (v == 0) v = deeper(x % 9); jumpR[3]++; return v; }
`

// cxx writes the program in C++.
func (u *unwinding) cxx() string {
	u.body.WriteString(unwindCXXHead)
	for i := range u.n {
		u.printf("NI int f%d(int x);\n", i)
	}
	u.printf("struct Base { virtual int run(int x) = 0; virtual ~Base() {} };\n")
	for i := u.n - 1; i >= 0; i-- {
		a, b := u.later(i), u.later(i)
		begin := fmt.Sprintf("E[%d]++; if (--budget < 0) { R[%d]++; return x & 3; } ", i, i)
		end := fmt.Sprintf("sum += v; R[%d]++; return v; }\n", i)
		call := func(j int, arg string) string { return fmt.Sprintf("f%d(%s)", j, arg) }
		head := fmt.Sprintf("NI int f%d(int x) { %s", i, begin)
		if i == u.n-1 {
			u.printf("NI int f%d(int x) { E[%d]++; if (x %% 7 == 3) throw Err(); if (x %% 11 == 5) { Worse w; w.why "+
				"= \"leaf\"; throw w; } int v = x * 3 + 1; %s", i, i, end)
			continue
		}
		switch u.IntN(17) {
		case 0:
			u.printf("%sint v = %s + %s; %s", head, call(a, "x + 1"), call(b, "x / 2"), end)
		case 1:
			u.printf("%slong n = 0; int v; { Obj o(&n); v = %s; Obj p(&n); v += %s + (int)o.s.size() + "+
				"(int)p.s.size(); } v += n; %s", head, call(a, "x + 2"), call(b, "x"), end)
		case 2:
			u.printf("%sint v = 1; try { v = %s; } catch (...) { v = -1; } %s", head, call(a, "x + 3"), end)
		case 3:
			u.printf("%sint v; try { v = %s; } catch (Worse &w) { sum += w.why.size(); throw; } catch (Err &e) { v = "+
				"%s; } %s", head, call(a, "x * 3"), call(b, "x + 1"), end)
		case 4:
			u.printf("%sint v = 0; for (int i = 0; i < 2; i++) { try { try { v += %s; } catch (Worse &) { v += %s; "+
				"throw Err(); } } catch (Err &) { v++; } } %s", head, call(a, "x + i"), call(b, "x - i"), end)
		case 5:
			u.printf("%sif (x %% 5 == 2) throw Worse(); int v = %s; %s", head, call(a, "x + 5"), end)
		case 6:
			u.printf("%sint k = x & 7; std::function<int(int)> g = [&k](int y) { k++; return %s + k; }; int v = g(x) "+
				"+ k; %s", head, call(a, "y"), end)
		case 7:
			u.printf("struct D%d : Base { int y; D%d(int z) : y(z) {} NI int run(int x) override { return %s + y; } }"+
				";\n", i, i, call(a, "x"))
			u.printf("%sstd::unique_ptr<Base> p(new D%d(x)); int v = p->run(x + 1); %s", head, i, end)
		case 8:
			u.printf("NI int n%d(int x) noexcept { int v; try { v = %s; } catch (const Err &e) { v = 9; } catch "+
				"(...) { v = 4; } return v + 1; }\n", i, call(a, "x"))
			u.printf("%sint v = n%d(x) + 2; %s", head, i, end)
		case 9:
			u.printf("%sint v = through(f%d, x) + %s; %s", head, a, call(b, "x"), end)
		case 10:
			u.printf("%sint v = sorted(f%d, x); %s", head, a, end)
		case 11:
			u.printf("%sint v; switch (x & 15) { case 0: v = %s; break; case 1: v = 11; break; case 2: v = %s; "+
				"break; case 3: v = x * x; break; case 4: v = %s; break; case 5: throw Err(); case 6: v = 5; break; "+
				"case 7: v = sum & 7; break; case 9: v = x ^ 5; break; default: v = %s; } %s", head, call(a, "x"),
				call(b, "x + 7"), call(b, "1"), call(a, "x + 1"), end)
		case 12: // more calls inside of each other than the kernel keeps
			u.printf("%sint v; if (x < 100000) v = 1 + f%d(x + 20000 + 100000 * (x > 50000)); else v = %s; %s", head, i,
				call(a, "x & 63"), end)
		case 13:
			u.tail[i] = true
			u.printf("%sif (x & 1) return %s; return %s; }\n", head, call(a, "x + 1"), call(b, "x"))
		case 14:
			u.printf("NI Big g%d(int x, double d) { Big g; for (int i = 0; i < 5; i++) g.a[i] = %s + (long)d; return "+
				"g; }\n", i, call(a, "x + i"))
			u.printf("%sBig g = g%d(x, x * .5); int v = g.a[0] + g.a[4]; %s", head, i, end)
		case 15:
			u.printf("struct T%d { Obj o; int v; T%d(int x, long *n) try : o(n), v(%s) {} catch (Worse &) { throw "+
				"Err(); } };\n", i, i, call(a, "x"))
			u.printf("%slong n = 0; int v; { T%d t(x, &n); v = t.v; } v += n; %s", head, i, end)
		case 16:
			u.printf("%sint v; std::exception_ptr e; try { v = %s; } catch (...) { e = std::current_exception(); v = "+
				"jumped(x & 63); } if (e && (x & 1)) std::rethrow_exception(e); %s", head, call(a, "x"), end)
		}
	}
	u.printf("NI int work(int x) { int v = 0; for (int i = 0; i < 15; i++) { budget = 250; try { v += f%d(x + i); } "+
		"catch (Err &) { v--; } } return v; }\n", 0)
	u.printf(`int main() {
	int v = work(1);
	std::thread t([&v] { v += work(100); });
	t.join();
	printf("sum %%ld %%d\n", sum, v);
	for (int i = 0; i < %d; i++) if (E[i]) printf("COUNT f%%d %%ld %%ld %%d\n", i, E[i], R[i], (int)"%s"[i] - '0');
	const char *name[] = {"through", "sorted", "deeper", "jumped"};
	for (int i = 0; i < 4; i++) if (jumpE[i]) printf("COUNT %%s %%ld %%ld 0\n", name[i], jumpE[i], jumpR[i]);
	return sum & 63;
}
`, u.n, u.tails())
	return u.body.String()
}

func (u *unwinding) tails() string {
	b := make([]byte, u.n)
	for i, t := range u.tail {
		b[i] = '0'
		if t {
			b[i] = '1'
		}
	}
	return string(b)
}

const unwindRustHead = `#![allow(dead_code, unused_variables, static_mut_refs, unused_mut, unconditional_recursion)]
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
const N: usize = 200;
static mut E: [i64; N] = [0; N];
static mut R: [i64; N] = [0; N];
static mut SUM: i64 = 0;
static mut BUDGET: i64 = 0;
struct Obj { s: String, n: i32 }
impl Drop for Obj { fn drop(&mut self) { unsafe { SUM += self.s.len() as i64 + self.n as i64 } } }
fn obj(n: i32) -> Obj { Obj { s: String::from("a string"), n } }
trait Run { fn run(&self, x: i32) -> i32; }
fn enter(i: usize) -> bool { unsafe { E[i] += 1; BUDGET -= 1; BUDGET < 0 } }
fn leave(i: usize, v: i32) -> i32 { unsafe { SUM += v as i64; R[i] += 1 } v }
`

// rust writes the program in Rust.
func (u *unwinding) rust() string {
	u.body.WriteString(unwindRustHead)
	for i := u.n - 1; i >= 0; i-- {
		a, b := u.later(i), u.later(i)
		begin := fmt.Sprintf("if enter(%d) { return leave(%d, x & 3); } ", i, i)
		end := fmt.Sprintf("leave(%d, v) }\n", i)
		head := fmt.Sprintf("#[inline(never)] fn f%d(x: i32) -> i32 { %s", i, begin)
		call := func(j int, arg string) string { return fmt.Sprintf("f%d(%s)", j, arg) }
		if i == u.n-1 {
			u.printf("%sif x %% 7 == 3 { panic!(\"leaf\"); } if x %% 11 == 5 { panic::resume_unwind(Box::new(x)); } "+
				"let v = x.wrapping_mul(3) + 1; %s", head, end)
			continue
		}
		switch u.IntN(12) {
		case 0:
			u.printf("%slet v = %s.wrapping_add(%s); %s", head, call(a, "x.wrapping_add(1)"), call(b, "x / 2"), end)
		case 1:
			u.printf("%slet o = obj(x & 7); let mut v = %s; let p = obj(1); v = v.wrapping_add(%s); drop(o); %s", head,
				call(a, "x & 1023"), call(b, "x"), end)
		case 2, 3:
			u.printf("%slet v = panic::catch_unwind(|| %s).unwrap_or(-1); %s", head, call(a, "x.wrapping_add(3)"), end)
		case 4:
			u.printf("%slet v = match panic::catch_unwind(AssertUnwindSafe(|| %s)) { Ok(v) => v, Err(e) => if x & 1 "+
				"== 1 { panic::resume_unwind(e) } else { %s } }; %s", head, call(a, "x"), call(b, "x & 31"), end)
		case 5:
			u.printf("%sif x %% 5 == 2 { let o = obj(2); panic!(\"at {}\", x); } let v = %s; %s", head,
				call(a, "x.wrapping_add(5)"), end)
		case 6:
			u.printf("%slet mut k = x & 7; let mut g = |y: i32| { k += 1; %s.wrapping_add(k) }; let v = "+
				"g(x).wrapping_add(g(1)); %s", head, call(a, "y"), end)
		case 7:
			u.printf("struct D%d(i32); impl Run for D%d { #[inline(never)] fn run(&self, x: i32) -> i32 { "+
				"%s.wrapping_add(self.0) } }\n", i, i, call(a, "x"))
			u.printf("%slet p: Box<dyn Run> = Box::new(D%d(x)); let v = p.run(x & 255); %s", head, i, end)
		case 8:
			u.printf("%slet v = match x & 15 { 0 => %s, 1 => 11, 2 => %s, 3 => x ^ 77, 4 => %s, 5 => "+
				"panic!(\"five\"), 6 => 5, 7 => unsafe { SUM as i32 & 7 }, 9 => x ^ 5, _ => %s }; %s", head,
				call(a, "x"), call(b, "x & 7"), call(b, "1"), call(a, "x & 127"), end)
		case 9:
			u.printf("%slet x = x & 0x3ffff; let v = if x < 100000 { 1i32.wrapping_add(f%d(x + 2000 + 100000 * (x > "+
				"90000) as i32)) } else { %s }; %s", head, i, call(a, "x & 63"), end)
		case 10:
			u.printf("%slet v: i32 = (0..3).map(|i| %s & 0xffff).sum(); %s", head, call(a, "x.wrapping_add(i) & 4095"),
				end)
		case 11:
			u.printf("#[inline(never)] fn g%d(x: i32) -> Result<[i64; 5], String> { if x & 3 == 0 { return "+
				"Err(String::from(\"no\")); } Ok([%s as i64; 5]) }\n", i, call(a, "x"))
			u.printf("%slet v = match g%d(x) { Ok(g) => g[4] as i32, Err(s) => s.len() as i32 }; %s", head, i, end)
		}
	}
	u.printf(`#[inline(never)] fn work(x: i32) -> i32 { let mut v = 0i32; for i in 0..15 { unsafe { BUDGET = 250 } v = v.wrapping_add(panic::catch_unwind(|| f0(x + i)).unwrap_or(-1)); } v }
fn main() -> ExitCode {
	panic::set_hook(Box::new(|_| {}));
	let mut v = work(1);
	v = v.wrapping_add(std::thread::spawn(|| work(100)).join().unwrap());
	unsafe {
		println!("sum {} {}", SUM, v);
		for i in 0..%d { if E[i] > 0 { println!("COUNT f{} {} {} 0", i, E[i], R[i]); } }
		ExitCode::from((SUM & 63) as u8)
	}
}
`, u.n)
	return u.body.String()
}
