package oracle

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/gostap/gostap/tests/pages"
)

// server is a real program that runs under a load while gostap and Delve look at it.
type server struct {
	name, pkg string
	// own: it is of this repository, and is always looked at.
	own bool
	// args are its arguments, port how it is told where to listen; prepare lays its files.
	args    func(dir string, port int) []string
	prepare func(t *testing.T, dir string, port int)
	// load makes it work until stop is closed.
	load func(port int, stop <-chan struct{})
	// entries and lines are the points that are looked at.
	entries, lines []string
}

// tally is what came out of the comparison of one program: of variables at hits.
type tally struct {
	pcs, hits, both, gostap, delve, guessed, neither, cut int
	wrong                                                 []string
	// positions: gostap knows no names, but receiver and arguments by their positions; words is how many it knows no
	// type of.
	positions bool
	words     int
	// left are those that only Delve has, why says what gostap says of a reason.
	left []string
	why  func(pc uint64, name string) string
}

const columns = "| program | pcs | hits | variables | both, equal | only gostap | only Delve | Delve guesses | " +
	"neither | wrong |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"

func (y *tally) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, y.pcs, y.hits,
		y.both+y.gostap+y.delve+y.guessed+y.neither+len(y.wrong), y.both, y.gostap, y.delve, y.guessed, y.neither,
		len(y.wrong))
}

// serversAsked names the programs of this run: "nats-server,caddy", or with where they lie, "caddy=/path".
const serversAsked = "GOSTAP_SERVERS"

// TestServers: variables of real servers at work, at entries and lines of their functions, are what Delve reads of the
// same hit.
func TestServers(t *testing.T) {
	needRoot(t)
	asked := map[string]string{}
	for _, w := range strings.Split(os.Getenv(serversAsked), ",") {
		name, path, _ := strings.Cut(w, "=")
		asked[name] = path
	}
	var table strings.Builder
	table.WriteString(columns)
	for i := range servers {
		s := &servers[i]
		path, ok := asked[s.name]
		if !ok && !s.own && !Full() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			if path == "" {
				path = s.build(t)
			}
			y := s.compare(t, path)
			table.WriteString(y.row(s.name))
			y.report(t)
		})
	}
	if strings.Count(table.String(), "\n") > 2 {
		t.Logf("\n%s", table.String())
		writeTable(t, "servers", table.String())
	}
}

func (y *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("\n%s%s%d of them cut by a limit", columns, y.row(""), y.cut)
	if y.both < 50 {
		t.Errorf("only %d are equal: the comparison itself has come apart", y.both)
	}
	for i, w := range y.wrong {
		if i == shown {
			t.Errorf("%d more", len(y.wrong)-i)
			break
		}
		t.Errorf("wrong: %s", w)
	}
	slices.Sort(y.left)
	t.Logf("only Delve has:\n%s", strings.Join(y.left[:min(len(y.left), 100)], "\n"))
}

// writeTable puts a table into a page, between two marks, where GOSTAP_TABLE names one.
func writeTable(t *testing.T, mark, table string) {
	page := os.Getenv("GOSTAP_TABLE")
	if page == "" {
		return
	}
	if err := pages.Write(page, "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n", table); err != nil {
		t.Error(err)
	}
}

// build makes a program of the newest version of its module.
func (s *server) build(t *testing.T, flags ...string) string {
	t.Helper()
	if s.own {
		out := filepath.Join(workDir, "server-"+s.name+tag(flags))
		must(t, ".", []string{"CGO_ENABLED=0"}, "go", append(append([]string{"build"}, flags...), "-o", out, s.pkg)...)
		return out
	}
	dir := filepath.Join(workDir, "module-"+s.name)
	os.MkdirAll(dir, 0o755)
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-mod=mod"}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		write(t, dir, "go.mod", "module x\n\ngo 1.26\n")
		if err := try(dir, env, "go", "get", s.pkg+"@latest"); err != nil {
			t.Skipf("%s cannot be had here: %v", s.pkg, err)
		}
	}
	out := filepath.Join(dir, s.name+tag(flags))
	must(t, dir, env, "go", append(append([]string{"build", "-p", "1"}, flags...), "-o", out, s.pkg)...)
	return out
}

// tag is what sets builds apart.
func tag(flags []string) string {
	if strings.Contains(strings.Join(flags, " "), "-s -w") {
		return "-stripped"
	} else if len(flags) > 0 {
		return "-twin"
	}
	return ""
}

// start runs the program and its load until the test ends.
func (s *server) start(t *testing.T, bin string) (pid int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir := t.TempDir()
	if s.prepare != nil {
		s.prepare(t, dir, port)
	}
	cmd := exec.Command(bin, s.args(dir, port)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var done sync.WaitGroup
	t.Cleanup(func() {
		close(stop)
		cmd.Process.Kill()
		cmd.Wait()
		done.Wait()
		if t.Failed() {
			t.Logf("%s says: %.1000s", s.name, out.String())
		}
	})
	for range 3 {
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.load(port, stop)
				}
			}
		})
	}
	return cmd.Process.Pid
}

// place is where a program comes to: an entry of a function, or what statement(pc) is.
type place struct {
	pc    uint64
	point string
}

// busy finds the places of the server's points that its load has it come to again and again.
func (s *server) busy(t *testing.T, bin string, pid int) (out []place) {
	t.Helper()
	var probes strings.Builder
	for kind, points := range [][]string{s.entries, s.lines} {
		if len(points) > 0 {
			fmt.Fprintf(&probes, "probe %s { n[%d, uaddr(), ppfunc()]++ }\n", probesAt(bin, points), kind)
		}
	}
	script := "global n\n" + probes.String() + `probe timer.s(5) { exit() }
		probe end { foreach ([kind, a, f] in n) if (n[kind, a, f] >= 5) printf("@P %d %x %s\n", kind, a, f) }`
	out1, errs, err := trace(t, t.TempDir(), nil, "-w", "-D", "MAXMAPENTRIES=100000", "-D", "STP_NO_OVERLOAD", "-e",
		script, "-x", strconv.Itoa(pid))
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	seen := map[uint64]bool{}
	for line := range strings.Lines(out1) {
		w := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(w) < 4 || w[0] != "@P" {
			continue
		}
		pc, err := strconv.ParseUint(w[2], 16, 64)
		if err != nil || seen[pc] {
			continue
		}
		seen[pc] = true
		p := place{pc, fmt.Sprintf("statement(%#x)", pc)}
		if w[1] == "0" {
			p.point = fmt.Sprintf("function(%q).call", w[3])
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.pc, b.pc) })
	return out
}

// rounds is how many hits of each place are looked at.
func rounds() int {
	if Full() {
		return 3
	}
	return 1
}

// some is a part of a list, of which GOSTAP_PLACES says how long it may be.
func some(all []place) (out []place) {
	most := 60
	if Full() {
		most = len(all)
	}
	fmt.Sscan(os.Getenv("GOSTAP_PLACES"), &most)
	for i := range min(most, len(all)) {
		out = append(out, all[i*len(all)/min(most, len(all))])
	}
	return out
}

// compare holds gostap against Delve. debug is where the program's debug information is, if not in it: then gostap has
// arguments by their positions.
func (s *server) compare(t *testing.T, bin string, debug ...string) *tally {
	t.Helper()
	needHardwareStops(t)
	pid := s.start(t, bin)
	all := s.busy(t, bin, pid)
	places := some(all)
	t.Logf("%d of %d places that it comes to", len(places), len(all))
	var points []string
	var pcs []uint64
	for _, p := range places {
		points, pcs = append(points, p.point), append(pcs, p.pc)
	}
	st := newStopper(t, bin, pid, points, "$$vars$$", debug...)
	y := &tally{positions: len(debug) > 0, why: func(pc uint64, name string) string {
		k := slices.IndexFunc(places, func(p place) bool { return p.pc == pc })
		return whyNot(t, bin, places[k].point, name)
	}}
	seen := map[uint64]bool{}
	for range rounds() {
		for todo := range slices.Chunk(slices.Clone(pcs), 4) {
			if err := st.arm(todo); err != nil {
				t.Fatal(err)
			}
			for range todo {
				th, pc, err := st.wait(3 * time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if th == nil {
					break
				}
				y.look(t, st, th, pc, seen)
			}
			for _, pc := range todo {
				if err := st.disarm(pc); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	y.pcs = len(seen)
	return y
}

// byPosition are the arguments of a function, named as gostap names those of a program without debug information.
func byPosition(vars []*proc.Variable, method bool) (out []*proc.Variable) {
	n := 0
	for _, v := range vars {
		if v.Flags&proc.VariableArgument == 0 || v.Flags&proc.VariableReturnArgument != 0 ||
			v.Name == ".dict" {
			continue
		}
		named := *v
		if named.Name = fmt.Sprintf("arg%d", n); method && n == 0 {
			named.Name = "recv"
		} else if !method {
			named.Name = fmt.Sprintf("arg%d", n+1)
		}
		out, n = append(out, &named), n+1
	}
	return out
}

// TestStrippedServers: receivers and arguments of the same servers built without symbols and debug information are what
// Delve reads of the same hit with the debug information of a build that has them.
func TestStrippedServers(t *testing.T) {
	needRoot(t)
	var table strings.Builder
	table.WriteString(columns)
	for i := range servers {
		s := servers[i]
		if !s.own && !Full() && !strings.Contains(os.Getenv(serversAsked), s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			const id = "1234567890abcdef1234567890abcdef12345678"
			bin, twin := s.build(t, "-trimpath", "-ldflags=-s -w -B 0x"+id),
				s.build(t, "-trimpath", "-ldflags=-B 0x"+id)
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, ".build-id", id[:2]), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(twin, filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")); err != nil {
				t.Fatal(err)
			}
			s.lines = nil
			y := s.compare(t, bin, dir)
			table.WriteString(y.row(s.name))
			t.Logf("%d of the equal ones are words without a type", y.words)
			y.report(t)
		})
	}
	t.Logf("\n%s", table.String())
}

// embedded reports whether a member of a structure is named by its type.
func embedded(f *proc.Variable) bool {
	if f.DwarfType == nil {
		return false
	}
	name := f.DwarfType.Common().Name
	return f.Kind == reflect.Struct && name[strings.LastIndexByte(name, '.')+1:] == f.Name
}

// guessed reports whether Delve cannot have what it shows: the debug information has one word for several, or none for
// some, of which Delve makes 0 (gostap has the variable then, with a part lost); or a register behind a call, and Go's
// calls keep none. Floating point values are in registers that Delve has.
func guessed(why string, kind reflect.Kind) bool {
	return strings.HasPrefix(why, "it is only partly available here") ||
		strings.HasPrefix(why, "the debug information has it in a register, and goes on") ||
		why == partLost && kind != reflect.Float64 && kind != reflect.Float32
}

// partLost is what whyNot says of a variable of which gostap has a part.
const partLost = "a part is lost"

// whyNot gives the reason for which gostap has no value of a variable.
func whyNot(t *testing.T, bin, point, name string) string {
	t.Helper()
	_, errs, err := trace(t, t.TempDir(), nil, "-p2", "-e",
		fmt.Sprintf("probe process(%q).%s { println($%s$) }", bin, point, name))
	line, _, _ := strings.Cut(errs, "\n")
	if i := strings.LastIndex(line, "\"): "); err != nil && i >= 0 {
		return line[i+4:]
	}
	return partLost
}

// look compares one hit.
func (y *tally) look(t *testing.T, st *stopper, th proc.Thread, pc uint64, seen map[uint64]bool) {
	t.Helper()
	scope, err := proc.GoroutineScope(st.target, th)
	if err != nil {
		scope, err = proc.ThreadScope(st.target, th)
	}
	var vars []*proc.Variable
	if err == nil {
		args, err1 := scope.FunctionArguments(delveOne)
		locals, err2 := scope.LocalVariables(delveOne)
		if vars = append(args, locals...); err1 != nil || err2 != nil {
			vars = nil
		}
	}
	back := st.keep(th, pc)
	e, ok, err := st.hit(th, pc)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return
	}
	y.hits++
	seen[pc] = true
	again, err := back()
	if err != nil {
		t.Fatal(err)
	}
	y.compare(&sameComparer{scope: scope}, vars, pc, e)
	if err := again(); err != nil {
		t.Fatal(err)
	}
}

// compare takes the variables that gostap printed of a hit one by one.
func (y *tally) compare(in *sameComparer, vars []*proc.Variable, pc uint64, e goEvent) {
	have := map[string][]*proc.Variable{}
	if y.positions {
		vars = byPosition(vars, len(e.vars) > 0 && e.vars[0][0] == "recv")
	}
	for _, v := range vars {
		have[v.Name] = append(have[v.Name], v)
	}
	for _, g := range e.vars {
		list := have[g[0]]
		if len(list) == 0 {
			if strings.Contains(unquoted(g[1]), "?") {
				y.neither++
			} else {
				y.gostap++
			}
			continue
		}
		var best *sameComparer
		for _, v := range list { // those of other blocks have the same name
			try := []*proc.Variable{v}
			if v.Kind == reflect.Ptr && len(v.Children) > 0 && !v.Children[0].OnlyAddr {
				// The receiver of the method that a wrapper has the body of: what the wrapper's points to, or a part of
				// that of which the method is promoted.
				try = append(try, &v.Children[0])
				for i := range v.Children[0].Children {
					if f := &v.Children[0].Children[i]; embedded(f) {
						part := *v
						part.Children = []proc.Variable{*f}
						try = append(try, &part, f)
					}
				}
			}
			for _, v := range try {
				c := &sameComparer{s: g[1], scope: in.scope, bare: y.positions}
				if y.positions && c.words(v) {
					y.words++
				} else if c.value(v); c.bad == "" && c.s != "" {
					c.wrong("more than there is")
				}
				if best == nil || best.bad != "" && c.bad == "" {
					best = c
				}
			}
		}
		switch {
		case best.bad != "":
			v := list[0]
			y.wrong = append(y.wrong, fmt.Sprintf("%x %s: %s=%.200s: %s; Delve has %s %v (len %d, base %x, addr %x)",
				pc, e.fn, g[0], g[1], best.bad, v.Kind, v.Value, v.Len, v.Base, v.Addr))
		case best.open:
			why := "a part of it"
			if g[1] == "?" {
				why = y.why(pc, g[0])
			}
			if guessed(why, list[0].Kind) {
				y.guessed++
				continue
			}
			y.delve++
			y.left = append(y.left, fmt.Sprintf("%s: %s $%s %s %x %.100s", why, e.fn, g[0], list[0].TypeString(), pc,
				g[1]))
		case best.both, best.unread && g[1] == "?":
			y.neither++
		case best.unread:
			y.gostap++
		default:
			y.both++
			if best.cut {
				y.cut++
			}
		}
	}
}
