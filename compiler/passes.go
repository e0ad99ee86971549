package compiler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/change"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/expand"
	"github.com/gostap/gostap/compiler/internal/family"
	"github.com/gostap/gostap/compiler/internal/headers"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/internal/lower"
	"github.com/gostap/gostap/compiler/internal/metrics"
	"github.com/gostap/gostap/compiler/internal/opt"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

// pass is one step of the compiler.
type pass struct {
	name  string
	phase Phase
	// about says in a few words what the pass makes.
	about string
	run   func(*state) diag.List
	// dump writes the product; nil if there is nothing to see.
	dump func(*state) string
	// asked: it runs only where its product is asked for.
	asked bool
	// after names the passes whose products this one reads.
	after []string
}

// passes is the compiler, in order. A test holds the order against after.
var passes = []pass{
	{name: "library", phase: Parse, about: "index of the library", run: (*state).library},
	{name: "parse", phase: Parse, about: "syntax trees of the scripts", run: (*state).parse, dump: (*state).dumpParse,
		after: []string{"library"}},
	// Sites come before names and types: what a target variable is decides types, and
	// @defined decides which arms are looked at.
	{name: "expand", phase: Elaborate, about: "probe points with their sites", run: (*state).expand,
		dump: (*state).dumpExpand, after: []string{"parse"}},
	{name: "target", phase: Elaborate, about: "target variables as location programs", run: (*state).target,
		dump: (*state).dumpTarget, after: []string{"expand"}},
	{name: "sema", phase: Elaborate, about: "names and types", run: (*state).sema, dump: (*state).dumpSema,
		after: []string{"target"}},
	{name: "coverage", phase: Elaborate, about: "what is used of the library", run: (*state).coverage,
		dump: (*state).dumpCoverage, asked: true, after: []string{"sema"}},
	{name: "ftrace", phase: Elaborate, about: "a shell script for the kernel's own tracer", run: (*state).ftrace,
		dump: (*state).dumpEmitted, asked: true, after: []string{"sema"}},
	{name: "perf", phase: Elaborate, about: "a shell script of perf's commands", run: (*state).perf,
		dump: (*state).dumpEmitted, asked: true, after: []string{"sema"}},
	{name: "lower", phase: Translate, about: "the program before optimising", run: (*state).lower,
		dump: (*state).dumpIR, after: []string{"sema"}},
	// Runs with -u too: string bounds and locks are needed by every executor.
	{name: "opt", phase: Translate, about: "the program that is run", run: (*state).optimise, dump: (*state).dumpIR,
		after: []string{"lower"}},
}

// state is what the passes hand to each other.
type state struct {
	ctx   context.Context
	o     Options
	files *source.FileSet
	env   *family.Env
	tenv  *target.Env

	lib   *load.Library
	trees []*ast.File
	items []*handler
	prog  *elab.Program
	out   *ir.Program
	// emitted is what ftrace or perf made.
	emitted string
	xenv    *expand.Env
	argUse  []bool
	// included are the types of headers, by their names.
	included map[string]debuginfo.Image
}

// handler is an expanded probe before its targets are resolved.
type handler struct {
	decl *ast.Probe
	item *expand.Item
	user bool
}

func newState(ctx context.Context, o Options) *state {
	reader := o.Open
	if reader == nil {
		reader = open.Open
	}
	o.Machine = cmp.Or(o.Machine, machine.Default)
	o.KernelFiles.Machine = o.Machine
	s := &state{ctx: ctx, o: o, files: new(source.FileSet), argUse: make([]bool, len(o.Args))}
	s.env = &family.Env{Open: reader, TargetPath: o.TargetPath, TargetPID: o.TargetPID, TargetWord: o.TargetWord,
		Program:    o.Program,
		SearchPath: o.SearchPath, Dir: o.Dir, LibraryPath: o.LibraryPath, AllCallers: o.AllCallers,
		Kernel: kbtf.New(o.KernelFiles), Guru: o.Guru, Privilege: o.Privilege, Machine: o.Machine}
	s.tenv = &target.Env{Image: s.openNamed, Headers: s.headers, Images: s.env.Images, Kernel: s.kernelImage,
		Global:  func(name string, in *ast.Block) bool { return s.lib.Global(name, s.lib.BlockFile(in)) != nil },
		Vectors: o.Runtime == "kernel", Limits: o.Limits}
	s.xenv = &expand.Env{
		Aliases: s.aliases, Known: family.Known, Forms: family.Wild,
		Names:   func() []string { return s.lib.AliasNames() },
		Resolve: func(r probe.Request) ([]*probe.Site, diag.List) { return family.Resolve(s.env, r) },
		Lacks:   o.Lacks,
		Library: func(pos source.Pos) bool { f := s.files.File(pos); return f != nil && f.Library },
	}
	return s
}

// openNamed opens a program that a script names in @cast or @var.
func (s *state) openNamed(name string) (debuginfo.Image, error) {
	if p := s.env.FindProgram(name); p != "" {
		return s.env.Image(p)
	}
	return nil, fmt.Errorf("there is no program %q in PATH", name)
}

// headers gives the types of C headers.
func (s *state) headers(names string) (debuginfo.Image, error) {
	if img, ok := s.included[names]; ok {
		return img, nil
	}
	path, remove, err := headers.Types(names, s.o.CacheDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	img, err := s.env.Open(path)
	if err != nil {
		return nil, err
	}
	if s.included == nil {
		s.included = map[string]debuginfo.Image{}
	}
	s.included[names] = img
	return img, nil
}

// close closes what was opened.
func (s *state) close() {
	s.env.Close()
	for _, img := range s.included {
		img.Close()
	}
}

// kernelImage gives the types and variables of the kernel ("") or of a module.
func (s *state) kernelImage(module string) (debuginfo.Image, error) {
	im, err := s.env.Kern().Image(module)
	if err != nil {
		return nil, err
	}
	return im, nil
}

func (s *state) aliases(first string) []expand.Alias {
	var out []expand.Alias
	for _, a := range s.lib.Aliases(first) {
		out = append(out, a)
	}
	return out
}

func (s *state) conditions() grammar.Conditions {
	c := grammar.Conditions{Kernel: s.o.Kernel, Arch: s.o.Machine.Arch, Runtime: s.o.Runtime, Guru: s.o.Guru,
		Privilege: s.o.Privilege, Systemtap: s.o.Language, Config: s.o.Config, Asked: s.o.Asked}
	if c.Runtime == "" {
		c.Runtime = "bpf"
	}
	return c
}

func (s *state) library() diag.List {
	lib, ds := load.New(load.Options{Files: s.files, Args: s.o.Args, Used: s.argUse, Cond: s.conditions(),
		Dirs: s.o.Include, System: s.o.System, Cache: s.o.CacheDir, CacheAnew: s.o.CacheAnew})
	s.lib = lib
	return ds
}

func (s *state) parse() diag.List {
	var all diag.List
	for _, sc := range s.o.Scripts {
		f := s.files.Add(sc.Name, sc.Text)
		tree, ds := grammar.Parse(f, grammar.Options{
			Files: s.files, Args: s.o.Args, Used: s.argUse, Cond: s.conditions(), Macros: s.lib.Macros(),
		})
		all = append(all, ds...)
		s.trees = append(s.trees, tree)
	}
	all = append(all, s.lib.TakeDiags()...)
	if s.o.Stop == Parse && !all.HasErrors() {
		// What later passes say as well, beside all else that they find.
		for _, t := range s.trees {
			all = append(all, s.lib.AddScript(t)...)
		}
		all = append(all, sema.Shape(s.trees, s.o.Guru)...)
	}
	return all
}

func (s *state) expand() diag.List {
	var all diag.List
	for _, t := range s.trees {
		all = append(all, s.lib.AddScript(t)...)
	}
	if all.HasErrors() {
		return all
	}
	probes := s.lib.UserProbes()
	if len(probes) == 0 {
		all.Errorf(diag.Semantic, "no-probes", source.Span{}, "the script has no probes").
			Hintf("a probe says where and what: probe begin { println(\"hello\") }")
		return all
	}
	for _, p := range probes {
		items, ds := s.xenv.Probe(p.Points, p.Body)
		all.AddAll(ds)
		for _, it := range items {
			s.items = append(s.items, &handler{p, it, true})
		}
	}
	s.dropInstead()
	if len(s.items) == 0 && !all.HasErrors() {
		all.Errorf(diag.Semantic, "no-probes", source.Span{}, "no probe of the script resolved").
			Hintf("all of its probe points are optional (?), and none was found")
	}
	return all
}

// dropInstead takes away the sites that stand in for a probe of another system call where the script has such a probe.
func (s *state) dropInstead() {
	type call struct {
		kind probe.Kind
		nr   int
	}
	own := map[call]bool{}
	some := false
	for _, h := range s.items {
		for _, st := range h.item.Sites {
			some = some || st.Syscall.Instead
			if !st.Syscall.Instead && strings.HasPrefix(st.Point, "syscall.") {
				own[call{st.Kind, st.Syscall.Nr}] = true
			}
		}
	}
	if !some {
		return
	}
	kept := s.items[:0]
	for _, h := range s.items {
		h.item.Sites = slices.DeleteFunc(h.item.Sites,
			func(st *probe.Site) bool { return st.Syscall.Instead && own[call{st.Kind, st.Syscall.Nr}] })
		if len(h.item.Sites) > 0 {
			kept = append(kept, h)
		}
	}
	s.items = kept
}

// elaborate resolves the target variables of an expanded probe.
func (s *state) elaborate(h *handler) ([]*elab.Probe, diag.List) {
	ps, ds := s.tenv.Probes(&target.Handler{
		Decl: h.decl, Req: h.item.Req, Sites: h.item.Sites, Bodies: h.item.Bodies, Cond: h.item.Cond, User: h.user,
	})
	for _, p := range ps {
		ds.AddAll(change.Probe(p, change.Options{Guru: s.o.Guru, Popping: s.o.Runtime == "kernel"}))
	}
	return ps, ds
}

func (s *state) target() diag.List {
	s.prog = &elab.Program{Files: s.files, Limits: s.o.Limits}
	var all diag.List
	for _, h := range s.items {
		ps, ds := s.elaborate(h)
		all.AddAll(ds)
		s.prog.Probes = append(s.prog.Probes, ps...)
	}
	s.narrow(&all)
	return all
}

func (s *state) sema() diag.List {
	all := sema.Analyze(s.prog, s.lib, sema.Options{
		Guru: s.o.Guru, Privilege: s.o.Privilege, SkipBadVars: s.o.SkipBadVars, Init: s.o.Globals, Resolve: s.tenv.Func,
		Expand: func(p *ast.Probe) ([]*elab.Probe, diag.List) {
			items, all := s.xenv.Probe(p.Points, p.Body)
			var out []*elab.Probe
			for _, it := range items {
				ps, ds := s.elaborate(&handler{p, it, false})
				all = append(all, ds...)
				out = append(out, ps...)
			}
			return out, all
		},
	})
	all.AddAll(change.Order(s.prog.Probes))
	if !all.HasErrors() {
		all.AddAll(metrics.Check(s.prog))
	}
	// The library can use them too: argv.
	for i, used := range s.argUse {
		if !used && !all.HasErrors() {
			all.Warnf(diag.Semantic, "unused-argument", source.Span{}, "argument %d (%q) is not used by the script",
				i+1, s.o.Args[i])
		}
	}
	return all
}

func (s *state) lower() diag.List {
	p, ds := lower.Program(s.prog, lower.Options{NoAutoPrint: s.o.NoAutoPrint, Folded: s.o.Folded,
		Inspected: s.o.Inspected, Merged: s.o.Merged, Bare: s.o.Bare, Machine: s.o.Machine})
	s.out = p
	return append(ds, s.verify("lower")...)
}

func (s *state) optimise() diag.List {
	var bad diag.List
	opt.Run(s.out, opt.Options{Off: s.o.Unoptimised, Apart: s.o.Apart, After: func(pass string) {
		if len(bad) == 0 {
			bad = s.verify(pass)
		}
	}})
	return bad
}

// codeInternal stands for a program that breaks the rules of package ir.
const codeInternal diag.Code = "internal"

// verify checks the program if asked to. What it finds is a mistake of the compiler.
func (s *state) verify(pass string) diag.List {
	if !s.o.Verify || s.out == nil {
		return nil
	}
	var l diag.List
	if err := ir.Verify(s.out); err != nil {
		l.Errorf(diag.Build, codeInternal, source.Span{}, "internal error: pass %s made a bad program: %v", pass, err)
	}
	return l
}

func (s *state) dumpParse() string {
	var b strings.Builder
	for _, t := range s.trees {
		ast.Fprint(&b, t)
	}
	return b.String()
}

func (s *state) dumpExpand() string {
	var b strings.Builder
	for _, h := range s.items {
		fmt.Fprintf(&b, "%s: %d sites, %d bodies\n", h.item.Req, len(h.item.Sites), len(h.item.Bodies))
		for _, st := range h.item.Sites {
			b.WriteString("  " + siteLine(st) + "\n")
		}
	}
	return b.String()
}

func siteLine(s *probe.Site) string {
	line := s.Kind.String() + " " + s.Point
	if s.Image != nil {
		line += fmt.Sprintf(" pc=0x%x offset=0x%x %s", s.At.PC, s.Offset(), s.At.Insn)
	}
	return line
}

func (s *state) dumpTarget() string {
	var b strings.Builder
	for _, p := range s.prog.Probes {
		fmt.Fprintf(&b, "%s: %d sites\n", p.Req, len(p.Sites))
		var lines []string
		for e, t := range p.Info.Targets {
			lines = append(lines, fmt.Sprintf("  %s = %s\n", target.Text(e), target.Describe(t)))
		}
		for e, v := range p.Info.Const {
			lines = append(lines, fmt.Sprintf("  %s = %d\n", target.Text(e), v))
		}
		sort.Strings(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	return b.String()
}

func (s *state) dumpSema() string { return sema.Listing(s.prog) }

func (s *state) dumpIR() string {
	if s.out == nil {
		return ""
	}
	return s.out.Dump()
}
