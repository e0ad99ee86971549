package cdwarf

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/machine"
)

const memoryResults = `
struct big { long a, b, c; };
volatile long sink;
__attribute__((noinline)) void tell(long v) { sink += v; }
static __attribute__((noinline)) struct big local(int n)
{
	struct big r = {n, n + 1, n + 2}; tell(r.a); tell(r.b); tell(n); return r;
}
__attribute__((noinline)) struct big open_to_all(int n)
{
	struct big r = {n, n + 1, n + 2}; tell(r.a); tell(n); return r;
}
int main(void) { for (int i = 0; i < 3; i++) { local(i); tell(open_to_all(i).b); } }
`

// TestResultInMemory: the address of a result in memory is in rax behind the return, or the result is refused: of a
// function all of whose callers it knows, LLVM may hand on nothing.
func TestResultInMemory(t *testing.T) {
	ran := false
	for _, cc := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(cc); err != nil {
			t.Logf("%s is not installed", cc)
			continue
		}
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			ran = true
			t.Run(cc+" "+level, func(t *testing.T) {
				dir := t.TempDir()
				src, bin := filepath.Join(dir, "results.c"), filepath.Join(dir, "results")
				if err := os.WriteFile(src, []byte(memoryResults), 0o644); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command(cc, level, "-w", "-g", "-o", bin, src).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				resultInMemory(t, bin, level != "-O0")
			})
		}
	}
	if !ran {
		t.Skip("no compiler of C is installed")
	}
}

func resultInMemory(t *testing.T, bin string, optimized bool) {
	im := open(t, bin)
	probes := map[uint64]func(*state){}
	for _, name := range []string{"local", "open_to_all"} {
		fs, err := im.Funcs(name)
		if err != nil || len(fs) != 1 {
			t.Logf("%s: %v, %v", name, fs, err) // it was made into another
			continue
		}
		vars, err := im.Vars(debuginfo.Site{PC: fs[0].Entry, Kind: debuginfo.AfterRet, Func: fs[0]})
		if err != nil || len(vars) == 0 {
			t.Fatal(vars, err)
		}
		if vars[0].Err != nil {
			if t.Logf("%s: %v", name, vars[0].Err); name == "open_to_all" || !optimized {
				t.Errorf("the result of %s, whose calls are not all known or which is not optimised, is refused", name)
			}
			continue
		}
		probes[fs[0].Entry] = func(st *state) {
			at := st.reg(int64(machine.AMD64.C.Args[0]))
			st.onReturn(func(st *state) {
				if got := st.eval(vars[0].Place.Addr); got != at {
					t.Errorf("%s: the result is said to be at %#x, the caller has it at %#x", name, got, at)
				}
			})
		}
	}
	live(t, im.f, probes)
}

// takenResults has local functions that load what they return. What main does not use, LLVM takes away.
const takenResults = `
volatile long sink;
long cells[8] = {10, 11, 12, 13, 14, 15, 16, 17};
struct two { long a, b; } pairs[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
static __attribute__((noinline)) long loaded(int n) { sink += n; return cells[n & 7]; }
static __attribute__((noinline)) long unused(int n) { sink += n; return cells[n & 7]; }
static __attribute__((noinline)) struct two both(int n) { sink += n; return pairs[n & 3]; }
static __attribute__((noinline)) struct two half(int n) { sink += n; return pairs[n & 3]; }
__attribute__((noinline)) long handed(int n) { sink += n; return loaded(n + 1); }
int main(void)
{
	for (int i = 0; i < 3; i++) {
		sink += handed(i) * loaded(i);
		unused(i);
		struct two p = both(i);
		sink += p.a * p.b + half(i).a;
	}
	return 0;
}
`

// TestResultTaken: the result of a local function is read where a caller takes it from its registers, all of them, and
// is what the caller gets; where none does it is refused.
func TestResultTaken(t *testing.T) {
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("clang is not installed")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "results.c")
	if err := os.WriteFile(src, []byte(takenResults), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O1", "-O2", "-O3", "-Os"} {
		bin := filepath.Join(dir, "results"+level)
		if out, err := exec.Command("clang", level, "-w", "-g", "-o", bin, src).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		im := open(t, bin)
		read := map[string]bool{"loaded": true, "both": true, "unused": false, "half": false, "handed": true}
		hits, probes := 0, map[uint64]func(*state){}
		for name, want := range read {
			fs, err := im.Funcs(name)
			if err != nil || len(fs) != 1 {
				t.Fatal(level, name, fs, err)
			}
			vars, err := im.Vars(debuginfo.Site{PC: fs[0].Entry, Kind: debuginfo.AfterRet, Func: fs[0]})
			if err != nil || len(vars) == 0 {
				t.Fatal(level, name, vars, err)
			}
			if ok := vars[0].Err == nil; ok != want {
				t.Errorf("%s: the result of %s: %v", level, name, vars[0].Err)
			}
			if vars[0].Err != nil || name == "handed" {
				continue
			}
			probes[fs[0].Entry] = func(st *state) {
				n := st.reg(int64(im.m.C.Args[0]))
				st.onReturn(func(st *state) {
					hits++
					want := []uint64{n&7 + 10}
					if name == "both" {
						want = []uint64{2*(n&3) + 1, 2*(n&3) + 2}
					}
					for i, w := range want {
						if got := st.eval(vars[0].Place.Pieces[i].Val); got != w {
							t.Errorf("%s: %s(%d) returned %d, want %d", level, name, n, got, w)
						}
					}
				})
			}
		}
		if live(t, im.f, probes); hits < 6 {
			t.Errorf("%s: only %d returns were seen", level, hits)
		}
	}
}
