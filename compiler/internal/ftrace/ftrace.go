// Package ftrace writes a script as text for the kernel's own tracer, tracefs
// (Documentation/trace: kprobetrace, uprobetracer, events, histogram), or for perf probe.
//
// In: an elaborated program. Out: a shell script that defines events with what the handlers print as their arguments,
// with the conditions of the handlers as filters and their statistics as triggers, and takes them away again; or what
// the tracer cannot do of the script, each with its place.
package ftrace

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// code stands for what ftrace and perf cannot do of a script.
const code diag.Code = "no-ftrace"

// Options say what for.
type Options struct {
	Machine *machine.Machine
	// PID is the process that the events are limited to, 0 for all.
	PID int
	// Perf writes commands of perf.
	Perf bool
	// Tprobes: the tracer can define events at tracepoints.
	Tprobes bool
	// Format gives the fields of an event that the kernel has.
	Format func(system, event string) ([]tracefs.Field, error)
}

// group is that of the events that are defined, and the name of the tracer's instance that they are seen in.
const group = "gostap_script"

// maxName is the length of a name that the kernel takes for an event or an argument (MAX_EVENT_NAME_LEN, and
// MAX_ARG_NAME_LEN less its end).
const (
	maxEvent = 63
	maxArg   = 31
)

// arg is an argument of an event: its name, what the kernel fetches and as what.
type arg struct{ name, fetch, typ string }

// event is an event of the tracer's.
type event struct {
	probe *elab.Probe
	site  *probe.Site
	// kind is 'p' or 'r' for a probe that is to be defined, 't' for one at a tracepoint, 'e' for an event that the
	// kernel has.
	kind        byte
	group, name string
	// place is where it is, as the kernel reads it.
	place string
	args  []arg
	// shown: it goes into the trace. when is its filter.
	shown    bool
	when     string
	triggers []string
	fields   []tracefs.Field // of an 'e'
	ustack   bool
}

// path is the event's folder below events.
func (e *event) path() string { return e.group + "/" + e.name }

// definition is the line that defines it.
func (e *event) definition() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%c:%s %s", e.kind, e.path(), e.place)
	for _, a := range e.args {
		fmt.Fprintf(&b, " %s=%s", a.name, a.fetch)
		if a.typ != "" {
			b.WriteString(":" + a.typ)
		}
	}
	return b.String()
}

// writer turns probes into events.
type writer struct {
	Options
	files  *source.FileSet
	diags  diag.List
	events []*event
	names  map[string]int
	// notes are comments, begins the texts of begin probes.
	notes, begins []string
	// buckets are the histograms that an end probe prints, by their globals: the modifier of a key.
	buckets map[*elab.Global]string
}

// no says what cannot be done.
func (w *writer) no(n ast.Node, format string, args ...any) *diag.Diagnostic {
	return w.diags.Errorf(diag.Build, code, n.Range(), w.tool()+" "+format, args...)
}

func (w *writer) tool() string {
	if w.Perf {
		return "perf"
	}
	return "ftrace"
}

// Write gives the text.
func Write(p *elab.Program, o Options) (string, diag.List) {
	w := &writer{Options: o, files: p.Files, names: map[string]int{}, buckets: map[*elab.Global]string{}}
	for _, pr := range p.Probes { // what end probes show decides what is kept
		for _, s := range pr.Sites {
			if when(s) == atEnd {
				w.end(pr)
			}
		}
	}
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			w.site(pr, s)
		}
	}
	if len(w.events) == 0 && len(w.diags) == 0 {
		w.diags.Errorf(diag.Build, code, source.Span{}, "%s has nothing to do for this script: no probe is at an event",
			w.tool())
	}
	w.stacks()
	if len(w.diags) > 0 {
		return "", once(w.diags)
	}
	if w.Perf {
		return w.perf(), nil
	}
	return w.script(), nil
}

// once leaves out what was said of a place before: a handler has many sites.
func once(l diag.List) diag.List {
	var out diag.List
	for _, d := range l {
		seen := false
		for _, o := range out {
			seen = seen || o.Span == d.Span && o.Message == d.Message
		}
		if !seen {
			out = append(out, d)
		}
	}
	return out
}

// site makes the events of one site.
func (w *writer) site(p *elab.Probe, s *probe.Site) {
	switch when(s) {
	case never, atEnd:
		return
	case atBegin:
		w.begin(p)
		return
	}
	if !w.limited(p, s) {
		return
	}
	h := &handler{writer: w, probe: p, site: s, locals: map[*elab.Local]ast.Expr{}}
	if h.base() == nil {
		return
	}
	if p.Cond != nil {
		h.conds = append(h.conds, cond{p.Cond, false})
	}
	for _, b := range p.Bodies {
		h.stmts(b.Stmts)
	}
	if len(h.events) == 0 && len(w.diags) == 0 {
		h.event() // it counts hits
	}
}

// limited checks which hits count.
func (w *writer) limited(p *elab.Probe, s *probe.Site) bool {
	at := pointOf(p)
	switch {
	case len(s.Callers) > 0:
		w.no(at, "does not look at who calls: %s counts some calls only", s.Title())
	case len(s.At.Guard) > 0:
		w.no(at, "cannot tell the hits of %s from others at its place", s.Title())
	case s.Program.Exe != "":
		w.no(at, "cannot limit %s to one program: the file is probed in all that map it", s.Title()).
			Hintf("process(\"LIBRARY\").function(\"NAME\") without .library means all programs")
	case (s.Program.Target || s.Program.PID != 0) && w.PID == 0:
		w.no(at, "does not know which process %s means", s.Title()).
			Hintf("name the program's file, process(\"./app\"), or a process that runs by -x")
	default:
		return true
	}
	return false
}

// pointOf is where the script names what p is at: not where the library says what that is.
func pointOf(p *elab.Probe) ast.Node {
	if len(p.Decl.Points) == 1 {
		return p.Decl.Points[0]
	}
	return pointNode{p.Req.Span}
}

// pointNode gives a span the form of a node.
type pointNode struct{ source.Span }

func (p pointNode) Range() source.Span { return p.Span }

// unique makes a name that no other event has.
func (w *writer) unique(name string) string {
	name = identifier(name, maxEvent-6)
	n := w.names[name]
	w.names[name]++
	if n == 0 {
		return name
	}
	next := fmt.Sprintf("%s_%d", name, n+1)
	if w.names[next] > 0 {
		return w.unique(next)
	}
	w.names[next]++
	return next
}

// identifier makes a name of C of s, at most n bytes long.
func identifier(s string, n int) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		word := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		switch {
		case word && b.Len() == 0 && c >= '0' && c <= '9':
			b.WriteString("_" + string(c))
		case word:
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	out := strings.TrimRight(b.String(), "_")
	if out == "" {
		out = "x"
	}
	return out[:min(len(out), n)]
}
