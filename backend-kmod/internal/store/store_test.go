package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/runtime/kmod"
)

// The store speaks to the module's own code (gs_access.h), built in user space under the sanitizers, and must show
// what interp.MemStore shows.

const globals = `
global n long init 7
global text string 10 init "begun"
global stat stats hist_log variance
global longs long [long, string 7] size 6
global texts string 12 [string 9] size 5
global stats stats [long] size 4 hist_linear(0, 100, 20)
global wraps long [long] size 3 wrap
global swraps stats [long] size 3 wrap
global unused long [long] size 4

probe "p" {
  site uprobe path="/bin/true" offset=0x1000
  long r0
  string r1 12
b0:
  r0 = gget @n
  gset @text, "x"
  sadd @stat, 1
  mset @longs[1, "a"], 1
  mset @texts["a"], "b"
  sadd @stats[1], 1
  mset @wraps[1], 1
  sadd @swraps[1], 1
  end
}
`

// server answers operations on its standard input; it must begin with what the generator wrote.
const server = `
static int gs_test_read(void *dst, unsigned long addr, unsigned int n, bool kernel)
{
	(void)dst; (void)addr; (void)n; (void)kernel;
	return -14;
}
static bool gs_emit(u8 kind, u8 flags, u32 slot, const void *body, u32 len)
{
	(void)kind; (void)flags; (void)slot; (void)body; (void)len;
	return true;
}
static void gs_wake(void) { }

int main(void)
{
	struct { u32 op, glob; s64 n; u32 nkey, nval; } q;
	struct { s64 err, n; } a;

	if (gs_memory_init())
		return 3;
	while (fread(&q, sizeof(q), 1, stdin) == 1) {
		char *key = malloc(q.nkey + 1), *val = malloc(q.nval + 1);
		struct gs_op op = { q.op, q.glob, q.n, (u64)(unsigned long)key, (u64)(unsigned long)val, q.nkey, q.nval };

		test_cpu = (test_cpu + 1) % GS_TEST_CPUS;
		if (q.nkey && fread(key, q.nkey, 1, stdin) != 1)
			return 4;
		if (q.nval && fread(val, q.nval, 1, stdin) != 1)
			return 5;
		a.err = q.glob < sizeof(gs_globs) / sizeof(gs_globs[0]) - 1 ? gs_access(&op) : -EINVAL;
		a.n = op.n;
		fwrite(&a, sizeof(a), 1, stdout);
		fwrite(val, 1, q.nval, stdout);
		fflush(stdout);
		free(key);
		free(val);
	}
	gs_memory_free();
	return 0;
}
`

// child is a Module in another process.
type child struct {
	in  io.Writer
	out io.Reader
	// busy makes the next operations fail with EBUSY, as when a handler has the lock.
	busy int
}

func (c *child) Do(op stage.Op, glob uint32, n int64, key, val []byte) (int64, error) {
	if c.busy > 0 {
		c.busy--
		return 0, unix.EBUSY
	}
	b := le.AppendUint32(nil, uint32(op))
	b = le.AppendUint32(b, glob)
	b = le.AppendUint64(b, uint64(n))
	b = le.AppendUint32(b, uint32(len(key)))
	b = le.AppendUint32(b, uint32(len(val)))
	if _, err := c.in.Write(append(append(b, key...), val...)); err != nil {
		return 0, err
	}
	a := make([]byte, 16+len(val))
	if _, err := io.ReadFull(c.out, a); err != nil {
		return 0, err
	}
	copy(val, a[16:])
	if e := int64(binary.LittleEndian.Uint64(a)); e != 0 {
		return 0, unix.Errno(-e)
	}
	return int64(binary.LittleEndian.Uint64(a[8:])), nil
}

func begin(t *testing.T) (*ir.Program, *Store, *child) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	p := irtest.Parse(t, globals)
	u, ds := cgen.Generate(p, cgen.Options{Name: "test", All: true})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, kmod.Headers); err != nil {
		t.Fatal(err)
	}
	c := "static int test_cpu;\n#define GS_TEST_CPU test_cpu\n#define GS_TEST_CPUS 3\n#include \"gs_user.h\"\n" + u.C +
		server
	os.WriteFile(dir+"/main.c", []byte(c), 0o644)
	gcc := exec.Command("gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
		"-Wno-sign-compare", "-Wno-unused-variable", "-Wno-type-limits", "-fwrapv", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=all", "-o", "server", "main.c")
	gcc.Dir = dir
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(dir + "/server")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the module's code: %v\n%s", err, stderr.String())
		}
	})
	m := &child{in: in, out: out}
	return p, New(p, u.Globals, m), m
}

// TestLikeMemory does random operations on the module's globals and on the interpreter's.
func TestLikeMemory(t *testing.T) {
	p, s, m := begin(t)
	ref := interp.NewMemStore(p)
	r := rand.New(rand.NewPCG(3, 5))
	long := func() int64 {
		return [...]int64{0, 1, -1, 5, 77, 100, 101, math.MaxInt64, math.MinInt64, int64(r.Uint64())}[r.IntN(10)]
	}
	str := func(most int) string { return strings.Repeat(string(rune('a'+r.IntN(2))), r.IntN(most+1)) }
	said := func(v interp.Val, ok bool, err error) string { return fmt.Sprint(v, ok, err) }
	for i := range 6000 {
		g := r.IntN(len(p.Globals))
		gl := p.Globals[g]
		var k interp.Key
		for _, c := range gl.Keys {
			if c.Type.String() == "string" {
				k = append(k, interp.Val{Str: str(c.Cap)})
			} else {
				k = append(k, interp.Val{Int: int64(r.IntN(6))})
			}
		}
		if i%50 == 0 {
			m.busy = r.IntN(4)
		}
		var got, want, what string
		stat := gl.Type.String() == "stats"
		switch op := r.IntN(20); {
		case op < 7 && stat:
			v := long()
			if v > math.MaxInt32 || v < math.MinInt32 {
				v = int64(int32(v)) // the sum of squares is for a test of its own
			}
			what, got, want = "addstat", fmt.Sprint(s.AddStat(g, k, v)), fmt.Sprint(ref.AddStat(g, k, v))
		case op < 11 && stat:
			a, ok, err := s.Stat(g, k)
			b, ok2, err2 := ref.Stat(g, k)
			what, got, want = "stat", fmt.Sprint(plain(a), ok, err), fmt.Sprint(plain(b), ok2, err2)
		case op < 7:
			v := interp.Val{Int: long()}
			if gl.Type.String() == "string" {
				v = interp.Val{Str: str(gl.Cap)}
			}
			what, got, want = "set", fmt.Sprint(s.Set(g, k, v)), fmt.Sprint(ref.Set(g, k, v))
		case op < 11:
			what, got, want = "get", said(s.Get(g, k)), said(ref.Get(g, k))
		case op < 14 && gl.Type.String() == "long":
			n := long()
			a, err := s.Add(g, k, n)
			b, err2 := ref.Add(g, k, n)
			what, got, want = "add", fmt.Sprint(a, err), fmt.Sprint(b, err2)
		case op < 17 && gl.IsArray():
			a, err := s.Elems(g)
			b, err2 := ref.Elems(g)
			what, got, want = "elems", elements(a)+fmt.Sprint(err), elements(b)+fmt.Sprint(err2)
		case op < 18:
			what, got, want = "delete", fmt.Sprint(s.Delete(g, k)), fmt.Sprint(ref.Delete(g, k))
		case op == 18 && r.IntN(4) == 0:
			what, got, want = "clear", fmt.Sprint(s.Clear(g)), fmt.Sprint(ref.Clear(g))
		}
		if got != want {
			t.Fatalf("step %d: %s of %s%v gives\n%s\nnot\n%s", i, what, gl.Name, k, got, want)
		}
	}
}

func plain(a interp.Agg) string {
	if a.Count == 0 {
		return "empty"
	}
	return fmt.Sprint(a.Count, a.Sum, a.Min, a.Max, a.SqHi, a.SqLo, a.Hists)
}

func elements(es []interp.Elem) string {
	var b strings.Builder
	for _, e := range es {
		fmt.Fprint(&b, e.Key, e.Val)
		if e.Agg != nil {
			b.WriteString(plain(*e.Agg))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// fake is a Module that answers as it is told.
type fake struct {
	err   error
	calls []stage.Op
}

func (f *fake) Do(op stage.Op, glob uint32, n int64, key, val []byte) (int64, error) {
	f.calls = append(f.calls, op)
	return 0, f.err
}

// TestBroken: what the kernel refuses ends the session with the global's name, a full array is the script's
// error, and globals that only the host uses never reach the module.
func TestBroken(t *testing.T) {
	p := irtest.Parse(t, globals)
	u, _ := cgen.Generate(p, cgen.Options{Name: "test"})
	f := &fake{err: unix.EBADF}
	s := New(p, u.Globals, f)
	if _, _, err := s.Get(0, nil); err == nil || !strings.Contains(err.Error(), "global n ") ||
		!errors.Is(err, unix.EBADF) {
		t.Errorf("%v", err)
	}
	f.err = unix.ENOSPC
	if err := s.Set(3, interp.Key{{Int: 1}, {Str: "a"}}, interp.Val{Int: 1}); !errors.Is(err, interp.ErrFull) {
		t.Errorf("%v", err)
	}
	f.calls = nil
	if err := s.Set(8, interp.Key{{Int: 1}}, interp.Val{Int: 5}); err != nil {
		t.Error(err)
	}
	if v, ok, err := s.Get(8, interp.Key{{Int: 1}}); v.Int != 5 || !ok || err != nil || len(f.calls) != 0 {
		t.Errorf("%v %v %v, operations %v", v, ok, err, f.calls)
	}
	f.err = unix.EBUSY
	if err := s.Lock(0); err != interp.ErrLocked {
		t.Errorf("%v", err)
	}
	f.err = nil
	if err := s.Lock(0); err != nil {
		t.Error(err)
	}
	s.Unlock(0)
	if want := []stage.Op{stage.Lock, stage.Unlock}; !reflect.DeepEqual(f.calls[len(f.calls)-2:], want) {
		t.Errorf("%v", f.calls)
	}
}
