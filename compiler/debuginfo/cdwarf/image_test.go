package cdwarf

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

var builds = map[string]string{
	"O0":          "-O0 -g -gdwarf-5",
	"O1":          "-O1 -g",
	"O2":          "-O2 -g",
	"O0-nopie-v4": "-O0 -g -gdwarf-4 -no-pie -fno-pie",
	"O2-nopie-v4": "-O2 -g -gdwarf-4 -no-pie -fno-pie -gz",
	"Og-cet":      "-Og -g -fcf-protection=full",
	"O0-cet":      "-O0 -g -fcf-protection=full -fstack-protector-all",
	"O2-novta":    "-O2 -g -fno-var-tracking",
	"O2-lto":      "-O2 -g -flto",
}

// build compiles the fixture once for each set of flags.
func build(t testing.TB, name string) string {
	t.Helper()
	return compile(t, name, builds[name], "testdata/callee.c", "testdata/main.c")
}

var built = map[string]string{}
var buildDir string

func TestMain(m *testing.M) {
	var err error
	buildDir, err = os.MkdirTemp("", "cdwarf")
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

func compile(t testing.TB, name, flags string, files ...string) string {
	t.Helper()
	if p := built[name]; p != "" {
		return p
	}
	out := filepath.Join(buildDir, name)
	args := append(strings.Fields(flags), "-w", "-o", out)
	cmd := exec.Command("gcc", append(args, files...)...)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, b)
	}
	built[name] = out
	return out
}

func open(t testing.TB, path string) *Image {
	t.Helper()
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im
}

func one(t testing.TB, im *Image, name string) *debuginfo.Func {
	t.Helper()
	fs, err := im.Funcs(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(fs) != 1 {
		t.Fatalf("%d functions %s", len(fs), name)
	}
	return fs[0]
}

// show formats bytes by their type, as far as the tests need it.
func show(st *state, t *types.Ctype, b []byte) string {
	n := uint64(0)
	if len(b) <= 8 {
		w := make([]byte, 8)
		copy(w, b)
		n = binary.LittleEndian.Uint64(w)
	}
	switch t.Kind {
	case types.Int, types.Char, types.Enum:
		if len(b) == 16 {
			return fmt.Sprintf("%d:%d", binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b))
		}
		if t.Signed {
			return fmt.Sprint(int64(cut(n, 8*len(b), true)))
		}
		return fmt.Sprint(n)
	case types.Bool:
		return fmt.Sprint(n != 0)
	case types.Float:
		if len(b) == 4 {
			return fmt.Sprint(math.Float32frombits(uint32(n)))
		}
		return fmt.Sprint(math.Float64frombits(n))
	case types.Pointer:
		e := t.Elem()
		switch {
		case n == 0:
			return "nil"
		case e.Kind == types.Char:
			s := st.read(n, 16)
			return fmt.Sprintf("%q", s[:strings.IndexByte(string(s), 0)])
		case e.Kind == types.Func:
			return "func"
		}
		return "->" + show(st, e, st.read(n, int(max(e.Size, 0))))
	case types.Array:
		e := t.Elem()
		var s []string
		for i := range max(t.Count, 0) {
			s = append(s, show(st, e, b[i*e.Size:(i+1)*e.Size]))
		}
		return "[" + strings.Join(s, " ") + "]"
	case types.Struct, types.Union:
		var s []string
		for _, f := range t.Fields() {
			if f.BitSize > 0 {
				w := make([]byte, 8)
				copy(w, b[f.Off:f.Off+f.Type.Size])
				v := cut(binary.LittleEndian.Uint64(w)>>uint(f.BitOff), int(f.BitSize), f.Type.Signed)
				s = append(s, fmt.Sprintf("%s=%d", f.Name, int64(v)))
				continue
			}
			if f.Name == "next" || f.Name == "op" || f.Name == "list" {
				continue
			}
			s = append(s, f.Name+"="+show(st, f.Type, b[f.Off:f.Off+f.Type.Size]))
		}
		return "{" + strings.Join(s, " ") + "}"
	}
	return "?" + t.Name
}

// calls are what main.c passes to each function and what it gets back.
var calls = []struct{ fn, args, result string }{
	{"many", `a=-1 b=-2 c=-3 d=4000000000 e=5 s="six" g=7 h=-8`, "4000000113"},
	{"floats", "x=1.25 y=2.5 i=4", "7.125"},
	{"structs", "p={a=1 b=-2} m={d=2.5 i=3} b={x=[10 20 30 40 50]} f={a=1.5 b=-1.5} s={i=1000 c=113 s=7 neg=-1}",
		"167"},
	{"rpair", "a=5", "{a=5 b=6}"},
	{"rmixed", "i=7", "{d=3.5 i=7}"},
	{"rbig", "i=3", "{x=[3 4 5 6 7]}"},
	{"rfl", "f=2.5", "{a=2.5 b=-2.5}"},
	{"rsmall", "i=6", "{i=6 c=120 s=5 neg=-3}"},
	{"rld", "i=3", "it is in a floating-point register (x87), which cannot be read"},
	{"rbool", "i=4", "true"},
	{"rshort", "i=300", "-300"},
	{"rfloat", "i=3", "4.5"},
	{"rwide", "i=2", "2:9"},
	{"rcolor", "i=-1", "-1"},
	{"rnode", `n=->{val=11 name="first" ={inner=31 ={s=32 c=32}} grid=[[0 0 0] [0 0 6]]}`,
		`->{val=22 name="second" ={inner=0 ={s=0 c=0}} grid=[[0 0 0] [0 0 0]]}`},
	{"rvoid", "i=1", ""},
	{"variadic", `n=2 fmt="fmt"`, "30"},
	{"loopfirst", "n=3 scale=1", ""},
	{"blocks", "n=2", "760"},
	{"useall", `n=->{val=11 name="first" ={inner=31 ={s=32 c=32}} grid=[[0 0 0] [0 0 6]]} u={i=1094861636 f=12.141422 bytes=[68 67 66 65]} b={low=5 mid=-9 wide=78187493530 flag=1} c=5 cb=func`, "1094861662"},
	{"oneline", "a=5", "15"},
	{"old", "a=6 c=99", "105"},
	{"guarded", `n=3 src="abc"`, "100"},
	{"other", "x=1", "201"},
}

// lost are the parameters that the compiler does not describe in some builds.
var lost = map[string]map[string]string{
	"O2-novta": {"structs": "p=optimised out m=optimised out b={x=[10 20 30 40 50]} f={a=1.5 b=-1.5} s={i=1000 c=113 " +
		"s=7 neg=-1}"},
	"O2-lto": {
		"structs": "p={a=1 b=-2} m={d=2.5 i=3} b={x=[10 20 30 40 50]} f={a=1.5 b=-1.5} s=optimised code need not " +
			"keep it in its stack slot",
	},
}

func TestCalls(t *testing.T) {
	for name := range builds {
		t.Run(name, func(t *testing.T) {
			im := open(t, build(t, name))
			probes := map[uint64]func(*state){}
			got := map[string]string{}
			hits := map[string]int{}
			for _, c := range calls {
				fn := one(t, im, c.fn)
				s, err := im.EntrySite(fn)
				if err != nil {
					t.Fatal(err)
				}
				vars, err := im.Vars(s)
				if err != nil {
					t.Fatal(err)
				}
				value := func(st *state, v *debuginfo.Var) string {
					if v.Err != nil {
						return v.Err.(*debuginfo.NotLiveError).Reason
					}
					b, err := st.bytes(v.Place)
					if err != nil {
						return err.Error()
					}
					return show(st, v.Type, b)
				}
				probes[s.PC] = func(st *state) {
					hits[c.fn]++
					var args []string
					for _, v := range vars {
						if v.Kind == debuginfo.Param {
							args = append(args, v.Name+"="+value(st, v))
						}
					}
					got[c.fn] = strings.Join(args, " ")
					if cfa := st.eval(s.CFA); st.read(cfa-8, 8) == nil ||
						binary.LittleEndian.Uint64(st.read(cfa-8, 8)) != st.eval(s.Return) {
						t.Errorf("%s: frame is wrong", c.fn)
					}
				}
				rs := debuginfo.Site{PC: fn.Entry, Kind: debuginfo.AfterRet, Func: fn}
				result, err := im.Results(rs)
				if err != nil {
					t.Fatal(err)
				}
				atEntry := probes[fn.Entry]
				probes[fn.Entry] = func(st *state) {
					if atEntry != nil {
						atEntry(st)
					}
					st.onReturn(func(st *state) {
						r := ""
						for _, v := range result {
							r = value(st, v)
						}
						if c.result != r {
							t.Errorf("%s returned %s, want %s", c.fn, r, c.result)
						}
					})
				}
			}
			live(t, im.f, probes)
			for _, c := range calls {
				want := c.args
				if l := lost[name][c.fn]; l != "" {
					want = l
				}
				if got[c.fn] != want {
					t.Errorf("%s(%s)\nwant (%s)", c.fn, got[c.fn], want)
				}
				if hits[c.fn] != 1 {
					t.Errorf("%s: %d hits", c.fn, hits[c.fn])
				}
			}
		})
	}
}
