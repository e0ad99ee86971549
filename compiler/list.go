package compiler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/expand"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/grammar"
)

// ListOptions say what to list.
type ListOptions struct {
	// Vars adds the variables with their types (-L).
	Vars bool
	// Details adds, behind a #, the calling convention, the pc with the kind of instruction there
	// and which functions of the goroutine can be used (-v).
	Details bool
}

// List resolves probe points as -l and -L do and gives a line for each that was found, sorted
// and each once:
//
//	process("/abs/trace").function("traceme@/abs/trace.c:5") $a:int $b:int
//	process("/abs/app").function("main.f@/abs/main.go:9") $a:int $s:string -> $n:int $err:error
//	process("/abs/app").function("main.f@/abs/main.go:9").return $return:int $a:int
//
// Variables are those that have a value at the site, and the locals of C functions. What a Go function returns stands
// behind an arrow at its entry, where it has no value yet, and first at its returns; an unnamed
// result is $return, or $return[0] and so on. Aliases are listed by their names, with the variables
// that their bodies set. No line at all is an error.
func List(ctx context.Context, point string, o Options, lo ListOptions) ([]string, *Result, diag.List) {
	s := newState(ctx, o)
	res := &Result{Files: s.files, close: s.env.Close}
	var out []string
	var all diag.List
	s.unchanged(&all, func() { out, all = s.list(point, lo, res) })
	if all.HasErrors() {
		out = nil
	}
	return out, res, all
}

func (s *state) list(point string, lo ListOptions, res *Result) ([]string, diag.List) {
	all := s.library()
	if all.HasErrors() {
		return nil, all
	}
	f := s.files.Add("<point>", []byte(point))
	points, ds := grammar.ParsePoints(f, grammar.Options{Files: s.files, Args: s.o.Args, Cond: s.conditions(),
		Macros: s.lib.Macros()})
	all = append(all, ds...)
	if all.HasErrors() {
		return nil, all
	}
	s.env.Brief = !lo.Vars && !lo.Details
	items, ds := s.xenv.Probe(points, nil)
	all = append(all, ds...)
	res.Images = s.env.Images()
	if all.HasErrors() {
		return nil, all
	}
	var out []string
	lines := map[string]string{}
	add := func(point, rest string) {
		if s.env.Brief {
			out = append(out, point)
		} else if old, ok := lines[point]; !ok || old == "" {
			lines[point] = rest
		}
	}
	for _, it := range items {
		if it.Alias != "" {
			rest := ""
			if lo.Vars {
				rest = s.aliasVars(it) + sharedVars(it.Sites)
			}
			add(it.Alias, rest)
			continue
		}
		for _, site := range it.Sites {
			rest := ""
			if lo.Vars {
				rest = siteVars(site)
			}
			if lo.Details {
				rest += details(site)
			}
			add(site.Point, rest)
			out = append(out, site.Others...)
			site.Others = nil
		}
	}
	for p, rest := range lines {
		out = append(out, p+rest)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 && !all.HasErrors() {
		all.Errorf(diag.Semantic, "no-match", points[0].Span, "no match for %s", point)
	}
	return out, all
}

// aliasVars lists the variables that the bodies of an alias set.
func (s *state) aliasVars(it *expand.Item) string {
	s.prog = &elab.Program{Files: s.files, Limits: s.o.Limits}
	h := &target.Handler{Req: it.Req, Sites: it.Sites, Bodies: it.Bodies}
	ps, _ := s.tenv.Probes(h)
	if len(ps) == 0 {
		return ""
	}
	s.prog.Probes = ps[:1]
	sema.Analyze(s.prog, s.lib, sema.Options{Guru: s.o.Guru, SkipBadVars: true, KeepUnused: true, Resolve: s.tenv.Func})
	var b strings.Builder
	for _, l := range ps[0].Info.Locals {
		if l.Written && (l.Type == types.Long || l.Type == types.String) &&
			(!strings.HasPrefix(l.Name, "__") || l.Name == "__nr") {
			fmt.Fprintf(&b, " %s:%s", l.Name, l.Type)
		}
	}
	return b.String()
}

// sharedVars lists the variables of the traced program that can be read at all of the sites.
func sharedVars(sites []*probe.Site) string {
	const most = 100 // sites, of aliases for whole groups of functions
	if len(sites) == 0 || len(sites) > most {
		return ""
	}
	var shared []string
	for i, site := range sites {
		vars, _, _ := strings.Cut(siteVars(site), " ->")
		have := strings.Split(vars, " $")[1:]
		if i == 0 {
			shared = have
			continue
		}
		shared = slices.DeleteFunc(shared, func(v string) bool { return !slices.Contains(have, v) })
	}
	var b strings.Builder
	for _, v := range shared {
		b.WriteString(" $" + v)
	}
	return b.String()
}

// siteVars lists the variables of the traced program that can be read at s.
func siteVars(s *probe.Site) string {
	if s.Names != nil {
		return eventVars(s)
	}
	if s.Image == nil || !debuginfo.Tells(s.Image) {
		return ""
	}
	var b strings.Builder
	seen := map[string]bool{}
	add := func(name string, t *types.Ctype) {
		if name == "" || name == "_" || strings.HasPrefix(name, ".") || seen[name] {
			return
		}
		seen[name] = true
		tn := "?"
		if t != nil && t.Name != "" {
			tn = t.Name
		}
		fmt.Fprintf(&b, " $%s:%s", name, tn)
	}
	results := func(at debuginfo.Site) {
		rs, err := s.Image.Results(at)
		if err != nil {
			return
		}
		for i, r := range rs {
			switch {
			case strings.HasPrefix(r.Name, "~") || r.Name == "" || r.Name == "_" || r.Name == "return":
				if len(rs) == 1 {
					add("return", r.Type)
				} else {
					add(fmt.Sprintf("return[%d]", i), r.Type)
				}
			case s.IsReturn() && len(rs) == 1:
				add("return", r.Type)
				add(r.Name, r.Type)
			default:
				add(r.Name, r.Type)
			}
		}
	}
	if s.IsReturn() {
		if s.At.Kind != debuginfo.AtTail {
			results(s.At)
		}
		if s.At.Func != nil {
			if entry, err := s.Image.EntrySite(s.At.Func); err == nil {
				if vs, err := s.Image.Vars(entry); err == nil {
					for _, v := range vs {
						if v.Err == nil && v.Kind == debuginfo.Param {
							add(v.Name, v.Type)
						}
					}
				}
			}
		}
		return b.String()
	}
	vs, err := s.Image.Vars(s.At)
	if err != nil {
		return ""
	}
	for _, kind := range []debuginfo.VarKind{debuginfo.Param, debuginfo.Captured, debuginfo.Local, debuginfo.Result} {
		for _, v := range vs {
			// The locals of a C function are listed at its entry, as stap does, although they have
			// values further down only.
			var later *debuginfo.NotLiveError
			stored := v.Err == nil || kind == debuginfo.Local && !s.Go() && errors.As(v.Err, &later) &&
				len(later.Lines) > 0
			if v.Kind == kind && stored && !strings.HasPrefix(v.Name, "~") &&
				(kind != debuginfo.Result || s.At.Kind == debuginfo.AtLine) {
				add(v.Name, v.Type)
			}
		}
	}
	if s.Go() && s.At.Kind == debuginfo.AtEntry && s.At.Func != nil {
		if rets, err := s.Image.ReturnSites(s.At.Func); err == nil {
			for _, r := range rets {
				if r.Kind != debuginfo.AtReturn {
					continue
				}
				n := b.Len()
				b.WriteString(" ->")
				if results(r); b.Len() == n+len(" ->") {
					s := b.String()[:n]
					b.Reset()
					b.WriteString(s)
				}
				break
			}
		}
	}
	return b.String()
}

// eventVars lists the arguments of an event.
func eventVars(s *probe.Site) string {
	var b strings.Builder
	for _, v := range s.Names.Vars() {
		if v.Kind != debuginfo.Local && v.Type != nil {
			fmt.Fprintf(&b, " $%s:%s", v.Name, v.Type.Name)
		}
	}
	return b.String()
}

// details is what -v adds to a line.
func details(s *probe.Site) string {
	if s.Image == nil {
		return ""
	}
	parts := []string{}
	if s.At.Func != nil {
		parts = append(parts, s.At.Func.ABI.String())
	}
	parts = append(parts, fmt.Sprintf("pc 0x%x (%s)", s.At.PC, s.At.Insn))
	if g := s.Image.Goroutine(s.At); g != nil && !g.G.Empty() {
		var have []string
		for _, f := range []struct {
			name string
			off  int64
		}{{"goid", g.GoID}, {"goroutine_parent", g.ParentGoID}, {"gostart_pc", g.StartPC}, {"gocreate_pc", g.GoPC},
			{"goroutine_status", g.Status}, {"goroutine_waitreason", g.WaitReason}} {
			if f.off >= 0 {
				have = append(have, f.name+"()")
			}
		}
		if len(have) > 0 {
			parts = append(parts, strings.Join(have, " "))
		}
	}
	return "  # " + strings.Join(parts, ", ")
}
