package oracle

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"
)

// goEvent is what gostap printed at a pc.
type goEvent struct {
	fn   string
	vars [][2]string
}

// delveCase is one program with the places to compare at.
type delveCase struct {
	build  string // package
	points []string
	args   []string
	full   bool
}

// What telemetry does in the Go commands differs from run to run, so packages that it uses first are not among them.
var delveCases = []delveCase{
	{build: "cmd/gofmt", points: []string{`function("go/scanner.*").call`, `function("go/parser.*").call`,
		`function("go/printer.*").call`}, args: []string{"input.go"}},
	{build: "cmd/gofmt", points: []string{`statement("*@go/scanner/scanner.go:*")`}, args: []string{"input.go"}},
	{build: "cmd/gofmt", points: []string{`function("go/*").call`, `function("text/*").call`,
		`function("strconv.*").call`, `function("bytes.*").call`, `function("strings.*").call`,
		`function("io*").call`, `function("sort.*").call`, `function("unicode*").call`}, args: []string{"input.go"},
		full: true},
	{build: "cmd/gofmt", points: []string{`statement("*@go/parser/parser.go:*")`,
		`statement("*@cmd/gofmt/gofmt.go:*")`}, args: []string{"input.go"}, full: true},
	{build: "cmd/gofmt", points: []string{`statement("*@go/printer/nodes.go:*")`,
		`statement("*@text/tabwriter/tabwriter.go:*")`}, args: []string{"input.go"}, full: true},
	{build: "cmd/compile", points: []string{`function("cmd/compile/internal/syntax.*").call`,
		`function("cmd/compile/internal/types2.*").call`,
		`function("cmd/compile/internal/ssa.*").call`},
		args: []string{"-p", "main", "-complete", "-o", "input.o", "input.go"}, full: true},
	{build: "cmd/compile", points: []string{`statement("*@cmd/compile/internal/syntax/parser.go:*")`},
		args: []string{"-p", "main", "-complete", "-o", "input.o", "input.go"}, full: true},
}

const delveInput = `package main

type shape interface { area( ) float64 }
type sq struct{ a,b float64; name string }
func (s *sq) area() float64 { return s.a*s.b }   // area
func sum[T int|string](xs ...T) (t T) { for _, x := range xs { t += x }; return }
func main() {
	var all []shape
	m := map[string]int{"a":1,   "b": 2}
	for i := 0; i < 3; i++ { all = append(all, &sq{float64(i), 2, "x"}) }
	switch n := len(all); { case n>2 && m["a"]==1: println("big"); default: defer func() { recover() }() }
	_ = sum(1,2,3); _ = sum("a","b")
}
`

// TestDelve: Go variables at entries and lines are what Delve reads when it is stopped at the same pc.
func TestDelve(t *testing.T) {
	needRoot(t)
	var all Figures
	dir := t.TempDir()
	write(t, dir, "input.go", delveInput)
	for _, c := range delveCases {
		if c.full && !Full() {
			continue
		}
		bin := filepath.Join(workDir, filepath.Base(c.build))
		must(t, ".", []string{"CGO_ENABLED=0"}, "go", "build", "-o", bin, c.build)
		f, places := againstDelve(t, dir, append([]string{bin}, c.args...), c.points, false)
		t.Logf("%s %v: %d places: %s", filepath.Base(c.build), c.points, places, f)
		all.Add(f)
	}
	all.Report(t, 300)
}

// againstDelve traces cmd, a program with its arguments, at all points, runs it under Delve with stops at the same
// places, and compares the variables; see compareGo.
func againstDelve(t *testing.T, dir string, cmd, points []string, tells bool) (f *Figures, places int) {
	t.Helper()
	env := []string{"GOMAXPROCS=1", "GOGC=off"}
	var list []string
	for _, p := range points {
		list = append(list, fmt.Sprintf("process(%q).%s ?", cmd[0], p))
	}
	script := "global n\nprobe " + strings.Join(list, ", ") +
		" { if (n[uaddr()]++ < 1) printf(\"@E %x %s %s\\n\", uaddr(), ppfunc(), $$vars$$) }"
	out, errs, err := trace(t, dir, env, "-w", "-s", "64", "-D", "MAXMAPENTRIES=100000", "-D", "MAXSTRINGLEN=2000",
		"-e", script, "-c", strings.Join(cmd, " ")+" >/dev/null")
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	events := map[uint64]goEvent{}
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(line, "@E ")
		w := strings.SplitN(strings.TrimSuffix(rest, "\n"), " ", 3)
		if !ok || len(w) < 3 {
			continue
		}
		if pc, err := strconv.ParseUint(w[0], 16, 64); err == nil {
			events[pc] = goEvent{w[1], splitVars(w[2])}
		}
	}
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		t.Setenv(k, v)
	}
	f, places = &Figures{}, len(events)
	if err := delve(f, dir, cmd, events, tells); err != nil {
		t.Fatal(err)
	}
	return f, places
}

// delve runs a program under Delve, stops it once at the pcs of events and compares.
func delve(f *Figures, dir string, cmd []string, events map[uint64]goEvent, tells bool) error {
	quiet := proc.OutputRedirect{Path: "/dev/null"}
	grp, err := native.Launch(cmd, dir, 0, nil, "", "", quiet, quiet)
	if err != nil {
		return err
	}
	defer grp.Detach(true)
	target := grp.Selected
	id, left := 1, 0
	for pc := range events {
		id++
		grp.LogicalBreakpoints[id] = &proc.LogicalBreakpoint{LogicalID: id, HitCount: map[int64]uint64{}}
		if _, err := target.SetBreakpoint(id, pc, proc.UserBreakpoint, nil); err != nil {
			f.Note("places at which Delve sets no breakpoint", 1)
			continue
		}
		left++
	}
	for left > 0 {
		if err := grp.Continue(); err != nil {
			if exited := (proc.ErrProcessExited{}); !errors.As(err, &exited) {
				return err
			}
			f.Note("places that were not come to under Delve", left)
			return nil
		}
		for _, th := range target.ThreadList() {
			b := th.Breakpoint()
			if b == nil || b.Breakpoint == nil || !b.Active {
				continue
			}
			e, ok := events[b.Breakpoint.Addr]
			if !ok {
				continue
			}
			pc := b.Breakpoint.Addr
			delete(events, pc)
			left--
			target.ClearBreakpoint(pc)
			compareGo(f, target, th, pc, e, tells)
		}
	}
	return nil
}

// compareGo compares the variables at a stop. tells: the program tells those that its function literals capture.
func compareGo(f *Figures, target *proc.Target, th proc.Thread, pc uint64, e goEvent, tells bool) {
	scope, err := proc.GoroutineScope(target, th)
	if err != nil {
		if scope, err = proc.ThreadScope(target, th); err != nil {
			f.Note("stops without a scope", 1)
			return
		}
	}
	cfg := proc.LoadConfig{FollowPointers: true, MaxVariableRecurse: 3, MaxStringLen: 3000, MaxArrayValues: 64,
		MaxStructFields: -1}
	args, err1 := scope.FunctionArguments(cfg)
	locals, err2 := scope.LocalVariables(cfg)
	if err1 != nil || err2 != nil {
		f.Note("stops at which Delve lists no variables", 1)
		return
	}
	have := map[string][]*proc.Variable{}
	for _, v := range append(args, locals...) {
		have[v.Name] = append(have[v.Name], v)
	}
	for _, g := range e.vars {
		list := have[g[0]]
		if len(list) == 0 {
			f.Note("variables that Delve does not list", 1)
			continue
		}
		if tells && list[0].Flags&proc.VariableEscaped != 0 {
			f.Note("captured variables that Delve reads through a pointer, be there one or not", 1)
			continue
		}
		if tells && list[0].Flags&proc.VariableFakeAddress != 0 && list[0].Kind == reflect.Struct {
			f.Note("structures in registers, which Delve reads as if they had no padding", 1)
			continue
		}
		if tells && inFrameToCome(th, list) {
			f.Note("captured variables that Delve looks for in a frame that is not made yet", 1)
			continue
		}
		best := wrong
		for _, v := range list { // those of other blocks have the same name
			best = min(best, compareText(g[1], v))
			if v.Kind == reflect.Ptr && len(v.Children) > 0 && !v.Children[0].OnlyAddr {
				// the receiver of the method that a wrapper has the body of
				best = min(best, compareText(g[1], &v.Children[0]))
			}
		}
		switch best {
		case equal:
			f.Equal(1)
		case moved:
			f.Equal(1)
			f.Note("of the equal ones, addresses that differ from run to run", 1)
		case refused:
			f.Refused("gostap leaves it open, Delve gives something")
		case unread:
			f.Note("Delve cannot read it", 1)
		default:
			v := list[0]
			f.Wrong("%x %s: %s: %s, Delve has %s %v (len %d, base %x)", pc, e.fn, g[0], g[1], v.Kind, v.Value, v.Len,
				v.Base)
		}
	}
}

// inFrameToCome reports whether Delve takes all of list, which are variables at a function's entry, to be below the
// stack pointer. There the function will have its frame, but it has not put anything there: what Delve reads is what
// others have left. A literal copies what it captures to its frame, and the location list begins too early.
func inFrameToCome(th proc.Thread, list []*proc.Variable) bool {
	regs, err := th.Registers()
	if err != nil {
		return false
	}
	sp := regs.SP()
	for _, v := range list {
		if v.Flags&proc.VariableFakeAddress != 0 || v.Addr >= sp || v.Addr < sp-1<<20 {
			return false
		}
	}
	return true
}
