package family

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/target/fake"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

// request reads a plain probe point.
func request(t *testing.T, text string) probe.Request {
	t.Helper()
	var fs source.FileSet
	ps, ds := grammar.ParsePoints(fs.Add("t", []byte(text)), grammar.Options{Files: &fs})
	if ds.HasErrors() || len(ps) != 1 {
		t.Fatalf("%q: %v", text, ds)
	}
	r := probe.Request{Span: ps[0].Span}
	for _, c := range ps[0].Comps {
		r.Comps = append(r.Comps, probe.Comp{Name: c.Name, Arg: c.Arg, Span: c.Span})
	}
	return r
}

func TestNetfilter(t *testing.T) {
	for point, want := range map[string]string{
		`netfilter.hook("NF_INET_LOCAL_IN").pf("NFPROTO_IPV4")`:                              "2:1:0",
		`netfilter.pf("NFPROTO_IPV6").hook("NF_INET_POST_ROUTING")`:                          "10:4:0",
		`netfilter.pf("NFPROTO_IPV6").hook("NF_IP6_FORWARD").priority("NF_IP6_PRI_NAT_DST")`: "10:2:-100",
		`netfilter.hook("NF_IP_PRE_ROUTING").pf("NFPROTO_IPV4").priority("NF_IP_PRI_LAST")`:  "2:0:2147483647",
		`netfilter.hook("NF_ARP_OUT").pf("NFPROTO_ARP").priority("-7")`:                      "3:1:-7",
		`netfilter.hook("NF_BR_LOCAL_OUT").pf("NFPROTO_BRIDGE").priority(255)`:               "7:3:255",
		`netfilter.hook("NF_BR_LOCAL_OUT").pf("NFPROTO_IPV4")`:                               `packets of NFPROTO_IPV4 do not come by at "NF_BR_LOCAL_OUT"`,
		`netfilter.hook("NF_IP_LOCAL_OUT").pf("NFPROTO_IPV6")`:                               "do not come by",
		`netfilter.hook("NF_INET_LOCAL_OUT").pf("NFPROTO_INET")`:                             "no family of protocols",
		`netfilter.hook("NF_INET_LOCAL_IN").pf("NFPROTO_IPV4").priority("2147483648")`:       "32 bits",
		`netfilter.hook("NF_INET_LOCAL_IN").pf("NFPROTO_IPV4").priority("NF_BR_PRI_LAST")`:   "32 bits",
		`netfilter.hook("NF_INET_LOCAL_IN")`:                                                 "not complete",
	} {
		sites, ds := Resolve(&Env{}, request(t, point))
		got := ""
		if ds.HasErrors() {
			got = ds[0].Message
		} else if len(sites) == 1 {
			got = sites[0].Event
			if h, err := probe.ParseNetHook(got); err != nil || h.String() != got || sites[0].Kind != probe.Netfilter {
				t.Errorf("%s: %v %v %v", point, sites[0].Kind, h, err)
			}
		}
		if !strings.Contains(got, want) || got == "" {
			t.Errorf("%s: want %q, got %q", point, want, got)
		}
	}
	for _, bad := range []string{"", "2:1", "2:1:0:0", "256:1:0", "2:-1:0", "2:1:2147483648", "a:b:c"} {
		if _, err := probe.ParseNetHook(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestSessionAndTimers(t *testing.T) {
	jiffy := tick()
	for _, tt := range []struct {
		point    string
		kind     probe.Kind
		priority int64
		period   time.Duration
		jitter   time.Duration
	}{
		{"begin", probe.Begin, 0, 0, 0},
		{"begin(-5)", probe.Begin, -5, 0, 0},
		{"end(3)", probe.End, 3, 0, 0},
		{"error", probe.ErrorEnd, 0, 0, 0},
		{"never", probe.Never, 0, 0, 0},
		{"timer.s(2)", probe.Timer, 0, 2 * time.Second, 0},
		{"timer.sec(2)", probe.Timer, 0, 2 * time.Second, 0},
		{"timer.ms(20).randomize(5)", probe.Timer, 0, 20 * time.Millisecond, 5 * time.Millisecond},
		{"timer.us(700)", probe.Timer, 0, 700 * time.Microsecond, 0},
		{"timer.nsec(100000)", probe.Timer, 0, 100_000, 0},
		{"timer.s(86400).randomize(0)", probe.Timer, 0, 24 * time.Hour, 0},
		{"timer.jiffies(3)", probe.Timer, 0, 3 * jiffy, 0},
		{"timer.hz(100)", probe.Timer, 0, 10 * time.Millisecond, 0},
		{"timer.profile", probe.Profile, 0, 0, 0},
		{"timer.profile.tick", probe.Profile, 0, 0, 0},
		{"process.end", probe.ProcessEnd, 0, 0, 0},
		{"process.thread.end", probe.ThreadEnd, 0, 0, 0},
	} {
		sites, ds := Resolve(&Env{}, request(t, tt.point))
		if len(sites) != 1 {
			t.Errorf("%s: %v", tt.point, ds)
			continue
		}
		s := sites[0]
		if s.Kind != tt.kind || s.Priority != tt.priority || s.Timer.Period != tt.period ||
			s.Timer.Jitter != tt.jitter ||
			s.Point != tt.point {
			t.Errorf("%s: %+v", tt.point, s)
		}
	}
}

func TestRefusedForms(t *testing.T) {
	for _, point := range []string{
		"timer.ms(0)", "timer.ms(-1)", "timer.s(9223372036854775807)", "timer.ms(5).randomize(6)",
		"timer.ms(5).randomize(-1)", "timer.hz(10001)", "timer.us(99)", "timer.ns(99999)", "timer.s(86401)",
		"timer.us(86400000001)", "timer.jiffies(1000001)", "timer",
		"timer.profile(3)", `begin("x")`, "process(0).begin", `process("").begin`, `process("/nowhere/*").begin`,
	} {
		if sites, ds := Resolve(&Env{}, request(t, point)); len(sites) > 0 || !ds.HasErrors() {
			t.Errorf("%s: %d sites, %v", point, len(sites), ds)
		}
	}
}

// TestMask: a mask takes permissions away, but for those of the owner, root, who needs none.
func TestMask(t *testing.T) {
	for point, want := range map[string]uint32{
		"procfs.read": 0o400, "procfs.write": 0o200, "procfs.umask(0).read": 0o444, "procfs.umask(0).write": 0o222,
		`procfs("x").umask(0222).write`: 0o200, `procfs("x").umask(0444).read`: 0o400, "procfs.umask(0777).read": 0o400,
		"procfs.umask(0222).read.maxsize(9)": 0o444, "procfs.umask(0444).write": 0o222,
		"procfs.umask(0377).read": 0o400, "procfs.umask(0700).read": 0o044,
	} {
		sites, ds := Resolve(&Env{}, request(t, point))
		if len(sites) != 1 || sites[0].Procfs.Mode != want {
			t.Errorf("%s: %v %v", point, sites, ds)
		}
	}
	for _, point := range []string{"procfs.umask(01000).read", "procfs.umask(-1).write"} {
		if sites, ds := Resolve(&Env{}, request(t, point)); len(sites) > 0 || !ds.HasErrors() {
			t.Errorf("%s is taken", point)
		}
	}
}

func TestParsePattern(t *testing.T) {
	for _, tt := range []struct {
		text string
		want pattern
		bad  bool
	}{
		{"f", pattern{fn: "f"}, false},
		{"*@a.go", pattern{fn: "*", file: "a.go"}, false},
		{"f@a.go:12", pattern{fn: "f", file: "a.go", hasLine: true, line: 12}, false},
		{"f@a.go:+3", pattern{fn: "f", file: "a.go", hasLine: true, line: 3, rel: true}, false},
		{"f@a.go:3-9", pattern{fn: "f", file: "a.go", hasLine: true, line: 3, to: 9}, false},
		{"f@a.go:*", pattern{fn: "f", file: "a.go", hasLine: true, all: true}, false},
		{"f@a.c+3", pattern{fn: "f", file: "a.c", hasLine: true, line: 3, rel: true}, false},
		{"f@*+3", pattern{fn: "f", file: "*", hasLine: true, line: 3, rel: true}, false},
		{"f@a.c:3,+5-6,*", pattern{fn: "f", file: "a.c", hasLine: true, line: 3, more: "+5-6,*"}, false},
		{"f@/a/c++", pattern{fn: "f", file: "/a/c++"}, false},
		{"f@/m/x@v1+incompatible/a.go", pattern{fn: "f", file: "/m/x@v1+incompatible/a.go"}, false},
		{"f@/m/x@v1.2.3/a.go:7", pattern{fn: "f", file: "/m/x@v1.2.3/a.go", hasLine: true, line: 7}, false},
		{"main.(*T[go.shape.int]).M@a.go", pattern{fn: "main.(*T[go.shape.int]).M", file: "a.go"}, false},
		{"", pattern{}, true}, {"@a.go", pattern{}, true}, {"f@", pattern{}, true}, {"f@a.go:", pattern{}, true},
		{"f@a.go:0", pattern{}, true}, {"f@a.go:3,", pattern{}, true}, {"f@a.go:,3", pattern{}, true},
		{"f@a.go:3,x", pattern{}, true}, {"f@a.go:9-3", pattern{}, true}, {"f@a.go:99999999999", pattern{}, true},
	} {
		got, err := parsePattern(tt.text)
		if (err != nil) != tt.bad || !tt.bad && got != tt.want {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
	}
}

func TestInFile(t *testing.T) {
	for _, tt := range []struct {
		pat, file string
		want      bool
	}{
		{"", "/a/b.go", true}, {"b.go", "/a/b.go", true}, {"a/b.go", "/a/b.go", true}, {"./b.go", "/a/b.go", true},
		{"/a/b.go", "/a/b.go", true},
		{"b.go", "/a/bb.go", false}, {"b*", "/a/bb.go", true}, {"*/a/*", "/x/a/b.go", true}, {"c*", "/a/b.go", false},
		{"?.go", "/a/b.go", true},
	} {
		p := pattern{file: tt.pat}
		if p.inFile(tt.file) != tt.want {
			t.Errorf("%q in %q: %v", tt.pat, tt.file, !tt.want)
		}
	}
}

// elf writes a file that looks like an ELF file from the outside.
func elf(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("\x7fELF and more"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	dir, _ = filepath.EvalSymlinks(dir)
	elf(t, filepath.Join(dir, "one"))
	elf(t, filepath.Join(dir, "onetwo"))
	os.WriteFile(filepath.Join(dir, "one.txt"), []byte("text"), 0o644)
	os.Symlink("one", filepath.Join(dir, "link"))
	opens := 0
	env := &Env{SearchPath: "/nowhere:" + dir, Dir: dir, TargetPath: filepath.Join(dir, "onetwo"),
		Open: func(path string) (debuginfo.Image, error) {
			opens++
			return &fake.Image{File: path,
				List: []*fake.Func{{Func: debuginfo.Func{Name: "f", Entry: 0x400100, End: 0x400200}}}}, nil
		}}
	paths := func(point string) string {
		sites, ds := Resolve(env, request(t, point))
		var out []string
		for _, s := range sites {
			p := filepath.Base(s.Program.Path)
			if s.Program.Target {
				p += "(target)"
			}
			out = append(out, p)
		}
		if len(out) == 0 {
			return ds[0].Message + "|" + ds[0].Hint
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct{ point, want string }{
		{`process("one").function("f")`, "one"},
		{`process("./one").function("f")`, "one"},
		{`process("` + dir + `/one").function("f")`, "one"},
		{`process("link").function("f")`, "one"},
		{`process("one*").function("f")`, "one onetwo"},
		{`process("./*").end`, "one onetwo"},
		{`process("one").begin`, "one one"}, // at exec and at fork
		{`process.function("f")`, "onetwo(target)"},
		{`process.end`, "onetwo(target)"},
	} {
		if got := paths(tt.point); got != tt.want {
			t.Errorf("%s: %s", tt.point, got)
		}
	}
	if opens != 2 {
		t.Errorf("two files were opened %d times", opens)
	}
	env.SearchPath = "/nowhere"
	if got := paths(`process("one").function("f")`); !strings.Contains(got,
		`|a file in the current directory is written process("./one")`) {
		t.Errorf("got %s", got)
	}
}

func TestByPID(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	env := &Env{Open: func(path string) (debuginfo.Image, error) { return &fake.Image{File: path}, nil }}
	sites, ds := Resolve(env, request(t, fmt.Sprintf("process(%d).begin", cmd.Process.Pid)))
	if len(sites) != 1 || sites[0].Program.PID != cmd.Process.Pid || !strings.Contains(sites[0].Program.Path,
		"sleep") &&
		!strings.Contains(sites[0].Program.Path, "coreutils") {
		t.Errorf("%v %v", sites, ds)
	}
	if _, ds := Resolve(env, request(t, "process(4194303).begin")); !ds.HasErrors() ||
		!strings.Contains(ds[0].Message, "there is no process 4194303") {
		t.Errorf("%v", ds)
	}
	// A process whose program is not the file of that name here: by way of /proc.
	proc := t.TempDir()
	os.MkdirAll(filepath.Join(proc, "7", "root", "bin"), 0o755)
	elf(t, filepath.Join(proc, "7", "root", "bin", "app"))
	os.Symlink(filepath.Join(proc, "7", "root", "bin", "app"), filepath.Join(proc, "7", "exe"))
	env.Proc = proc
	p, err := env.PIDPath(7)
	if err != nil || !strings.HasPrefix(p, proc) {
		t.Errorf("%s %v", p, err)
	}
}

// TestRefusedInstruction: a place where the kernel allows no probe is left out with one warning, if others are left.
func TestRefusedInstruction(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app")
	elf(t, path)
	add, load := &debuginfo.Func{Name: "add", File: "/f.c", Line: 3},
		&debuginfo.Func{Name: "load", File: "/f.c", Line: 9}
	f := fake.Func{Func: debuginfo.Func{Name: "f", Entry: 0x400100, End: 0x400200, File: "/f.c", Line: 20}}
	f.Lines = []debuginfo.Site{{PC: 0x400130, File: "/f.c", Line: 22, Insn: debuginfo.InsnRefused},
		{PC: 0x400140, File: "/f.c", Line: 23}}
	copied := func(fn *debuginfo.Func, pc uint64, insn debuginfo.Insn) *debuginfo.InlineSite {
		return &debuginfo.InlineSite{Func: fn, Site: debuginfo.Site{PC: pc, Insn: insn}}
	}
	env := &Env{Dir: dir, Open: func(path string) (debuginfo.Image, error) {
		return &fake.Image{File: path, List: []*fake.Func{&f}, Inlines: []*debuginfo.InlineSite{
			copied(add, 0x400110, debuginfo.InsnRefused), copied(load, 0x400120, debuginfo.InsnPush),
			copied(add, 0x400128, debuginfo.InsnRefused),
		}}, nil
	}}
	for _, c := range []struct {
		point string
		sites int
		say   string
	}{
		{`function("*")`, 2, "left out inlined copies of add: the kernel allows no probe on the instruction at 0x400110"},
		{`function("*").inline`, 1, "left out inlined copies of add"},
		{`function("add")`, 0, "the inlined copy of add: the kernel allows no probe"},
		{`function("load")`, 1, ""},
		{`statement("f@f.c:*")`, 1, "the kernel allows no probe on the instruction at 0x400130"},
	} {
		sites, ds := Resolve(env, request(t, `process("./app").`+c.point))
		if len(sites) != c.sites || ds.HasErrors() != (c.sites == 0) || c.say == "" && len(ds) != 0 || c.say != "" &&
			(len(ds) != 1 || !strings.Contains(ds[0].Message, c.say)) {
			t.Errorf("%s: %d sites, %v", c.point, len(sites), ds)
		}
	}
}

// TestRefusedFirst: the kernel's return probe needs a breakpoint on the first instruction. Where it allows none, a
// function's returns are probed at the places where it is left.
func TestRefusedFirst(t *testing.T) {
	dir := t.TempDir()
	elf(t, filepath.Join(dir, "app"))
	first := func(name string, pc uint64, insn debuginfo.Insn) *fake.Func {
		return &fake.Func{Func: debuginfo.Func{Name: name, Entry: pc, End: pc + 0x20, File: "/f.c", Line: 3},
			Lines: []debuginfo.Site{{PC: pc, File: "/f.c", Line: 3, Insn: insn}}}
	}
	plain, locked := first("plain", 0x400100, debuginfo.InsnPush), first("locked", 0x400140, debuginfo.InsnRefused)
	locked.Rets = []debuginfo.Site{{PC: 0x400150, Kind: debuginfo.AtReturn}, {PC: 0x400158, Kind: debuginfo.AtTail}}
	odd := first("odd", 0x400180, debuginfo.InsnRefused)
	odd.RetErr = errors.New("it is left in a way that is not known")
	env := &Env{Dir: dir, Open: func(path string) (debuginfo.Image, error) {
		return &fake.Image{File: path, List: []*fake.Func{plain, locked, odd}}, nil
	}}
	env.unwinders.why = map[string]string{filepath.Join(dir, "app"): ""} // nobody unwinds
	for point, want := range map[string]string{
		"plain": "uretprobe 0x400100", "locked": "uprobe 0x400150, uprobe 0x400158", "odd": "",
		"*": "uretprobe 0x400100, uprobe 0x400150, uprobe 0x400158",
	} {
		sites, ds := Resolve(env, request(t, fmt.Sprintf(`process("./app").function(%q).return`, point)))
		var got []string
		for _, s := range sites {
			got = append(got, fmt.Sprintf("%v %#x", s.Kind, s.At.PC))
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != sorted(want) || ds.HasErrors() != (want == "") {
			t.Errorf("%s: %s, want %s; %v", point, text, want, ds)
		}
		if point == "odd" && !strings.Contains(fmt.Sprint(ds),
			"begins at the function's first instruction, at 0x400180") {
			t.Errorf("%v", ds)
		}
	}
}

func sorted(list string) string {
	s := strings.Split(list, ", ")
	slices.Sort(s)
	return strings.Join(s, ", ")
}

// TestEveryForm walks the tree of forms: each resolvable form must give a site or an error of
// its own, and nothing may panic.
func TestEveryForm(t *testing.T) {
	env := &Env{TargetPath: "/bin/app", Open: func(path string) (debuginfo.Image, error) {
		return &fake.Image{File: path,
			List: []*fake.Func{{Func: debuginfo.Func{Name: "f", Entry: 0x400100, End: 0x400200, File: "/f.c",
				Line: 3}}}}, nil
	}}
	n := 0
	var walk func(prefix []probe.Comp, fs []*form)
	walk = func(prefix []probe.Comp, fs []*form) {
		for _, f := range fs {
			for _, arg := range []*ast.Literal{nil, {Num: 3}, {IsString: true, Str: "f@f.c:3"},
				{IsString: true, Str: "f"}} {
				req := probe.Request{Comps: append(append([]probe.Comp(nil), prefix...),
					probe.Comp{Name: f.name, Arg: arg})}
				sites, ds := Resolve(env, req)
				if len(sites) == 0 && !ds.HasErrors() {
					t.Errorf("%s: no sites and no error", req)
				}
				n++
				fits := arg == nil && f.args&bare != 0 || arg != nil &&
					(arg.IsString && f.args&str != 0 || !arg.IsString && f.args&num != 0)
				if fits && f.refuse == "" && len(prefix) < 5 {
					walk(req.Comps, f.kids)
				}
			}
		}
	}
	walk(nil, families())
	if n < 200 {
		t.Errorf("only %d forms were tried", n)
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"f", "*@a.go:1", "f@a:+1-3", "@:*", "f@b@c:9", "f@a+7", "f@a:1,2-3,*"} {
		f.Add(s, "/x/a.go")
	}
	f.Fuzz(func(t *testing.T, s, file string) {
		p, err := parsePattern(s)
		if err == nil {
			p.inFile(file)
			if p.fn == "" {
				t.Error("a pattern without a function")
			}
		}
	})
}

// TestWild: wildcards in component names stand for the forms that can be complete with the arguments given.
func TestWild(t *testing.T) {
	match := func(pat, name string) bool { ok, _ := path.Match(pat, name); return ok }
	for _, c := range []struct{ comps, want string }{
		{"be*", "begin"}, {"e*(1)", "end(1) error(1)"}, {"timer.m*(1)", "timer.ms(1) timer.msec(1)"},
		{"timer.*", "timer.profile"},
		{"k*", ""}, {"timer.ms(1).*(2)", "timer.ms(1).randomize(2)"},
		{"process.*", "process.plt process.begin process.end process.syscall"},
	} {
		r := request(t, c.comps)
		var got []string
		for _, f := range Wild(r, match) {
			got = append(got, f.String())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.comps, s, c.want)
		}
	}
}
