// Package cgen writes an ir.Program as the C source of a kernel module: one function for
// each handler and function of the script, with the script's names.
//
// In: an ir.Program that verifies. Out: a Unit: the C text, the schema of its records,
// how its globals lie in memory, its sites. What cannot run in a module is a diagnostic.
// The text needs the headers of runtime/kmod.
package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/snapshot"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// Options configure Generate.
type Options struct {
	// Name is that of the C file, without .c. The module's own name is not in the text: the same script makes
	// the same text whatever its module is called.
	Name string
	// All translates also the handlers that the host runs; for tests in user space.
	All bool
}

// Unit is a translated program.
type Unit struct {
	Program *ir.Program
	C       string
	Schema  *wire.Schema
	// Globals says how those lie in the module that handlers in the kernel use; by index of Program.Globals.
	Globals []Layout
	// Files are the traced files, in the order the module numbers them.
	Files []string
	// Sites are those of the kernel's handlers in the order the module numbers them in messages.
	Sites []Place
	// HostProbes are the probes whose handlers the host runs.
	HostProbes []int
	// Called are those of the HostProbes whose handlers the module runs when the host says so, in the order
	// it numbers them.
	Called []int
	// Deferred are the host's parts of handlers, in the order of Schema.Captures.
	Deferred []*ir.Func
	// Bytes is about what the module's globals and buffers take, output buffers aside, on one CPU.
	Bytes int
	// Keeps is how many addresses the stacks have at most that the module keeps, 0 if it keeps none.
	Keeps int
	// Walks: handlers walk stacks of programs by tables of their files.
	Walks bool
}

// Place is a site of a probe.
type Place struct {
	Probe int
	Site  *probe.Site
}

// Layout says how a global lies in the module.
type Layout struct {
	// Absent: no handler in the kernel uses it; the host keeps it.
	Absent bool
	// Index is its number in the module.
	Index int
	// KeySize and ValueSize are bytes; Off and Size those of the key's columns.
	KeySize, ValueSize int
	Off, Size          []int
	// HistWords is the number of all buckets of an aggregate's histograms.
	HistWords int
}

// AggHead is the bytes of an aggregate in front of its buckets: count, sum, min, max, and the low and
// high word of the sum of squares.
const AggHead = 48

// CodeRefused is what a module cannot do; the message says what.
const CodeRefused diag.Code = "kernel-refused"

// unit is the state of translating one program.
type unit struct {
	p      *ir.Program
	o      Options
	ds     diag.List
	schema wire.Schema
	b      strings.Builder
	names  map[string]bool
	glob   []string // C names of globals
	used   []bool   // globals
	fn     map[string]*fn
	order  []*fn // callees before callers where possible
	iters  []iterator
	fmts   strings.Builder // tables in front of the functions
	ntab   int
	texts  map[string]string // names of tables of texts
	maxOut int
	ncalls int
	maxAgg int
	stacks bool // a backtrace is printed, or the like
	keeps  bool // stacks are kept
	// recalls: arguments or results of system calls are changed
	recalls bool
	walks   bool // stacks are walked by tables
	snaps   int  // the most snapshots that one handler makes
	// regexes: a pattern is matched.
	regexes bool
	// guarded: a handler is timed.
	guarded bool
	embeds  embeds
}

// fn is a function or handler on its way to C.
type fn struct {
	f     *ir.Func
	name  string
	probe int // -1 for functions
	done  bool
	text  string
	frame int  // bytes of its strings
	looks bool // it reads or writes memory of the process
	// Of a handler that is cut: what its host's part needs, and the number of the record, -1 before it has one.
	defers  *partition.Handler
	capture int
}

type iterator struct{ name, glob string }

// Generate translates p.
func Generate(p *ir.Program, o Options) (*Unit, diag.List) {
	u := &unit{p: p, o: o, names: map[string]bool{}, fn: map[string]*fn{}, used: make([]bool, len(p.Globals)),
		maxOut: max(1040, p.Limits.MaxString+64)}
	out := &Unit{Program: p, Schema: &u.schema}
	for _, g := range p.Globals {
		u.glob = append(u.glob, u.unique("g_"+clean(g.Name)))
	}
	var defers []*partition.Handler
	var bad []bool
	if !o.All {
		var ds diag.List
		defers, bad, ds = partition.Deferrals(p, partition.Options{Translates: Translates, Full: true})
		u.ds = append(u.ds, ds...)
	}
	var handlers []*fn
	for i, pr := range p.Probes {
		kernel, host := 0, 0
		for _, s := range pr.Sites {
			if s.Kind.OnHost() {
				host++
			} else {
				kernel++
			}
		}
		if host > 0 && !o.All {
			out.HostProbes = append(out.HostProbes, i)
		}
		// C of the script runs in the module only: the host has the whole handler run there.
		called := host > 0 && !o.All && p.Embeds(pr) != nil
		if kernel == 0 && !o.All && !called || len(pr.Sites) == 0 {
			continue
		}
		if called {
			out.Called = append(out.Called, i)
		}
		h := &fn{f: pr.Handler, name: u.unique(fmt.Sprintf("probe_%d_%s", i, clean(pr.Name))), probe: i, capture: -1}
		if !o.All {
			if bad[i] {
				continue
			}
			if h.defers = defers[i]; h.defers != nil {
				h.f = h.defers.Body
			}
		}
		h.f, _ = snapshot.Expand(h.f)
		handlers = append(handlers, h)
	}
	for _, f := range p.Funcs {
		u.fn[f.Name] = &fn{f: f, name: u.unique("f_" + clean(f.Name)), probe: -1}
	}
	for _, h := range handlers {
		u.reach(h)
		if c := p.Probes[h.probe].Cond; c >= 0 {
			u.used[c] = true
		}
	}
	for _, f := range u.order {
		f.text = u.function(f)
		if f.defers != nil {
			out.Deferred = append(out.Deferred, f.defers.HostBody)
		}
	}
	u.depth()
	u.ncalls = len(out.Called)
	u.module(out, handlers)
	out.C = u.numbered(u.b.String())
	u.ds.Sort()
	return out, u.ds
}

// reach puts h and what it calls in order, callees first.
func (u *unit) reach(h *fn) {
	if h.done {
		return
	}
	h.done = true
	for _, b := range h.f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			h.looks = h.looks || u.touchesMemory(in)
			if in.Op == ir.OpIntr && snapshot.Of(in.Name) {
				u.snaps = max(u.snaps, int(in.N)+1)
			}
			if in.Glob >= 0 && in.Glob < len(u.used) && in.Op.OnGlobal() {
				u.used[in.Glob] = true
			}
			if c := u.p.CodeOf(in); c != nil {
				for _, g := range c.Globs {
					u.used[g.Glob] = true
				}
			}
			if in.Op == ir.OpCall {
				u.reach(u.fn[in.Name])
			}
		}
	}
	u.order = append(u.order, h)
}

// refuse adds a diagnostic at pos.
func (u *unit) refuse(pos source.Pos, format string, args ...any) {
	at, inner := u.p.Blame(nil, pos, source.NoPos)
	d := u.ds.Errorf(diag.Build, CodeRefused, source.At(at), format, args...).Within(inner)
	if d.Hint == "" {
		d.Hintf("--runtime=bpf may do it")
	}
}

// clean makes a name of C of any text.
func clean(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < 40; i++ {
		switch c := s[i]; {
		case isWord(c):
			b.WriteByte(c)
		case b.Len() > 0 && b.String()[b.Len()-1] != '_':
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// unique gives name, or that with a number behind it when it is taken.
func (u *unit) unique(name string) string {
	n := name
	for i := 2; u.names[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	u.names[n] = true
	return n
}

// text writes s as a C string.
func text(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '?':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comment makes s fit for a comment.
func comment(s string) string { return strings.ReplaceAll(s, "*/", "* /") }

// long writes a constant.
func long(n int64) string {
	if n == -1<<63 {
		return "(-9223372036854775807LL - 1)"
	}
	if n < 0 {
		return fmt.Sprintf("(%dLL)", n)
	}
	return fmt.Sprintf("%dLL", n)
}

func round8(n int) int { return (n + 7) &^ 7 }

// layout says how global g lies in memory.
func layoutOf(g *ir.Global) Layout {
	var l Layout
	for _, k := range g.Keys {
		n := 8
		if k.Type == types.String {
			n = round8(k.Cap + 1)
		}
		l.Off, l.Size = append(l.Off, l.KeySize), append(l.Size, n)
		l.KeySize += n
	}
	switch g.Type {
	case types.String:
		l.ValueSize = g.Cap + 1
		if g.IsArray() {
			l.ValueSize = round8(l.ValueSize)
		}
	case types.Stats:
		for _, h := range g.Stat.Hists {
			l.HistWords += h.Buckets()
		}
		l.ValueSize = AggHead + 8*l.HistWords
	default:
		l.ValueSize = 8
	}
	return l
}

// stackRoom is how much of the kernel's stack (16 kB, of which the probe's own path takes a part) calls may use.
const stackRoom = 6 << 10

// depth refuses programs whose calls may nest deeper than the kernel's stack allows.
func (u *unit) depth() {
	if u.o.All {
		return
	}
	frame := 0
	var at source.Pos
	for _, f := range u.order {
		if n := 96 + 8*len(f.f.Regs); f.probe < 0 && n > frame {
			frame, at = n, f.f.Pos
		}
	}
	if nest := u.p.Nesting(); frame > 0 && nest > stackRoom/frame {
		u.refuse(at, "calls may nest %d deep, which takes more than the kernel's stack has: a module allows %d here "+
			"(MAXNESTING)", nest, stackRoom/frame)
	}
}

// numbered fills in the lines "#line @" with the file's own numbers.
func (u *unit) numbered(c string) string {
	lines := strings.Split(c, "\n")
	for i, l := range lines {
		if l == "#line @" {
			lines[i] = fmt.Sprintf("#line %d %s", i+2, text(u.o.Name+".c"))
		}
	}
	return strings.Join(lines, "\n")
}
