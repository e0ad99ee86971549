package family

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/near"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// finder collects the sites of one request in one program.
type finder struct {
	*match
	prog program
	img  debuginfo.Image
	path string // as sites name it
	exe  string // the program that hits must come from, "" for any
	// tail is what the probe point's text has behind function(...) or statement(...).
	tail string
	// pathArg and exeArg are path and exe as arguments, which all sites share.
	pathArg, exeArg *ast.Literal

	sites []*probe.Site
	seen  map[site]bool
	// brief: only the texts of probe points are wanted, of which the first site holds the others.
	brief bool
}

// site tells sites apart.
type site struct {
	pc   uint64
	kind probe.Kind
	at   debuginfo.SiteKind
	fn   string // of an inlined copy
}

// each runs find for every program of m and gathers the sites. What does not match in one
// of several programs is left out as long as another has it. find may open other files.
func (m *match) each(last string, find func(*finder)) []*probe.Site {
	return m.eachIn(last, false, find)
}

// eachIn is each. apart says that find looks at nothing but its own program: programs are then taken on at the same
// time.
func (m *match) eachIn(last string, apart bool, find func(*finder)) []*probe.Site {
	tail := ""
	for i := range m.req.Comps {
		if m.req.Comps[i].Name == last {
			tail = suffix(m.req.Comps[i+1:])
		}
	}
	look := func(m *match, p program, img debuginfo.Image) []*probe.Site {
		run := func(m *match, img debuginfo.Image) *finder {
			f := &finder{match: m, prog: p, img: img, path: img.Path(), tail: tail, seen: map[site]bool{}}
			if m.env.foreign(p.path) {
				f.path = p.path
			}
			if p.of != "" {
				f.exe = m.env.real(p.of)
			}
			find(f)
			return f
		}
		if last == "function" || last == "statement" {
			return m.inBoth(m.at(last), img, run)
		}
		return run(m, img).sites
	}
	progs := m.libraries(m.programs())
	var sites []*probe.Site
	var failed diag.List
	if len(progs) > 1 && apart {
		sites, failed = m.inParallel(progs, look)
	} else {
		sites, failed = eachOf(m, progs, func(m *match, p program) []*probe.Site {
			if img := m.image(p); img != nil {
				return look(m, p, img)
			}
			return nil
		})
	}
	if len(sites) == 0 {
		m.diag.AddAll(failed)
	}
	return sites
}

func suffix(cs []probe.Comp) string {
	s := ""
	for _, c := range cs {
		s += "." + c.String()
	}
	return s
}

// add makes a probe.Site of a place in the image.
func (f *finder) add(kind probe.Kind, s debuginfo.Site, what, name string) error {
	return f.addAs(kind, s, func() *resolved { return f.resolve(what, name) })
}

// resolved is a probe point with the name of what was found; sites of the same share it.
type resolved struct {
	point string
	comps []probe.Comp
}

// resolve puts a name into the probe point.
func (f *finder) resolve(what, name string) *resolved {
	head := f.head()
	r := &resolved{point: head + `.` + what + `("` + name + `")` + f.tail}
	if f.brief && len(f.sites) > 0 {
		return r
	}
	r.comps = slices.Clone(f.req.Comps)
	name = r.point[len(head)+len(what)+3:][:len(name)] // no string of its own
	for i := range r.comps {
		if r.comps[i].Name == what && r.comps[i].Arg != nil && r.comps[i].Arg.IsString {
			r.comps[i].Arg = text(name)
		}
	}
	return r
}

// addAs is add for a probe point that is asked for once there is a site.
func (f *finder) addAs(kind probe.Kind, s debuginfo.Site, point func() *resolved) error {
	fn := ""
	if s.Inline != nil && s.Kind == debuginfo.AtInline && s.Inline.Func != nil {
		fn = s.Inline.Func.Name
	} else if s.Func != nil {
		fn = s.Func.Name
	}
	key := site{s.PC, kind, s.Kind, ""}
	if s.Inline != nil {
		key.fn = fn // several copies may begin at one pc; several names of one function are one site
	}
	if f.seen[key] {
		return nil
	}
	if s.Insn == debuginfo.InsnRefused && !kind.Returns() {
		// The kernel would find out only when a program with the code is running, and say nothing when one starts
		// later.
		return fmt.Errorf("the kernel allows no probe on the instruction at %#x (a breakpoint, a lock prefix, or a "+
			"vector instruction)", s.PC)
	}
	r := point()
	if f.brief && len(f.sites) > 0 {
		if _, err := f.img.FileOffset(s.PC); err != nil {
			return err
		}
		f.seen[key] = true
		f.sites[0].Others = append(f.sites[0].Others, r.point)
		return nil
	}
	st, err := f.place(kind, s, fn, r.comps)
	if err != nil {
		return err
	}
	f.seen[key] = true
	st.Point = r.point
	f.sites = append(f.sites, st)
	return nil
}

// site makes a probe.Site of a place in the image. comps are the probe point as resolved, but for the program; the site
// keeps them.
func (f *finder) site(kind probe.Kind, at debuginfo.Site, fn string, comps []probe.Comp) (*probe.Site, error) {
	st, err := f.place(kind, at, fn, comps)
	if err == nil {
		st.Point = probe.Request{Comps: comps}.String()
	}
	return st, err
}

// place is site without the text of the probe point.
func (f *finder) place(kind probe.Kind, at debuginfo.Site, fn string, comps []probe.Comp) (*probe.Site, error) {
	off, err := f.img.FileOffset(at.PC)
	if err != nil {
		return nil, err
	}
	if f.pathArg == nil {
		f.pathArg, f.exeArg = text(f.path), text(f.exe)
	}
	comps[0].Arg = f.pathArg
	if f.exe != "" {
		comps[0].Arg = f.exeArg
		for i := range comps {
			if comps[i].Name == "library" {
				comps[i].Arg = f.pathArg
			}
		}
	}
	return &probe.Site{
		Kind: kind, Program: probe.ProgramPart{Path: f.path, PID: f.prog.pid, Target: f.prog.target, Exe: f.only(),
			Offset: off}, Image: f.img,
		At: at, Func: fn,
		Comps: comps,
	}, nil
}

// head is how the texts of probe points in the file begin.
func (f *finder) head() string {
	if f.exe != "" {
		return `process("` + f.exe + `").library("` + f.path + `")`
	}
	return `process("` + f.path + `")`
}

// only is the program that processes must run for a hit to count, "" if a hit in the file says it all, or the process's
// number.
func (f *finder) only() string {
	if f.prog.pid != 0 {
		return ""
	}
	return f.exe
}

func text(s string) *ast.Literal { return &ast.Literal{IsString: true, Str: s} }

func place(name, file string, line int) string {
	if file == "" {
		return name
	}
	if line <= 0 {
		return name + "@" + file
	}
	return name + "@" + file + ":" + strconv.Itoa(line)
}

// functions resolves process(...).function(...) with all its suffixes.
func functions(m *match) []*probe.Site {
	c := m.at("function")
	if m.has("callee") || m.has("callees") {
		return m.each("function", (*finder).callees)
	}
	if m.has("label") {
		return m.each("function", (*finder).labels)
	}
	if !c.Arg.IsString {
		return m.each("function", func(f *finder) { f.functionAt(c, uint64(c.Arg.Num)) })
	}
	pat, ok := m.functionPattern(c)
	if !ok {
		return nil
	}
	return m.eachIn("function", true, func(f *finder) {
		f.brief = m.env.Brief
		f.functions(c, pat)
	})
}

func (f *finder) functionAt(c *probe.Comp, pc uint64) {
	fn := f.img.FuncAt(pc)
	if fn == nil {
		f.errorf(c, "no function of %s covers address 0x%x", f.path, pc)
		return
	}
	if f.has("inline") {
		f.errorf(c, "inlined copies are found by name only")
		return
	}
	f.out(c, []*debuginfo.Func{fn}, true)
}

func (f *finder) functions(c *probe.Comp, pat pattern) {
	var funcs []*debuginfo.Func
	var err error
	inlineOnly, outOnly := f.has("inline"), f.has("call") || f.has("return") || f.has("exported")
	var notFound error
	if !inlineOnly {
		funcs, err = f.img.Funcs(pat.fn)
		if err != nil && !missing(err) {
			f.errorf(c, "%v", err)
			return
		}
		notFound = err
		if pat.file != "" || pat.hasLine {
			funcs = pat.among(funcs, f.img)
		}
		if f.has("exported") {
			kept := exported(funcs)
			if len(kept) == 0 && len(funcs) > 0 {
				f.errorf(c, "%s of %s is not exported", funcs[0].Name, f.path)
				return
			}
			funcs = kept
		}
		f.out(c, funcs, !pat.isGlob())
		if f.diag.HasErrors() {
			return
		}
	}
	if !outOnly {
		// A file without DWARF may not tell; its functions are found all the same.
		if err := f.inlined(c, pat); err != nil && !missing(err) && inlineOnly {
			f.errorf(c, "%v", err)
			return
		}
		if f.diag.HasErrors() {
			return
		}
	}
	if len(f.sites) == 0 && !f.diag.HasErrors() {
		f.notFound(c, pat, notFound, len(funcs))
	}
}

func missing(err error) bool {
	var nf *debuginfo.NotFoundError
	return errors.As(err, &nf)
}

// twins warns of functions whose hits are those of others too.
func (f *finder) twins(funcs []*debuginfo.Func) {
	var all []string
	for _, fn := range funcs {
		if fn.Twins != "" {
			all = append(all, fmt.Sprintf("%s (%s)", fn.Name, fn.Twins))
		}
	}
	if len(all) > 0 {
		f.warnf("%s: calls of other functions count too, those in parentheses: the program has one function for all "+
			"that do the same (identical code folding)", diag.Few(all))
	}
}

// out adds the entries, or the returns, of out-of-line functions. exact says that they were
// asked for by name: what cannot be probed is then an error, else a warning.
func (f *finder) out(c *probe.Comp, funcs []*debuginfo.Func, exact bool) {
	type refusal struct {
		fn  *debuginfo.Func
		err error
	}
	var refused []refusal
	var endless []string
	f.twins(funcs)
	for _, fn := range funcs {
		err := f.one(fn)
		var never *debuginfo.NoReturnError
		if errors.As(err, &never) && !exact {
			endless = append(endless, fn.Name)
			continue
		}
		if err != nil {
			refused = append(refused, refusal{fn, err})
		}
	}
	if len(endless) > 0 && len(f.sites) > 0 {
		// No return is missed, but the calls are, for those who compare them with returns and with the count of those
		// that did not happen.
		f.warnf("%s: left out %s: without a return instruction there is no return, "+
			"and their calls are not among those told at the end", f.req, diag.Few(endless))
	}
	if len(refused) == 0 {
		return
	}
	first := refused[0]
	if len(f.sites) == 0 && len(refused) == len(funcs) {
		var never *debuginfo.NoReturnError
		if errors.As(first.err, &never) {
			f.errorf(c, "%v", first.err)
		} else {
			f.errorf(c, "%s: %v", first.fn.Name, first.err)
		}
		return
	}
	if exact {
		f.warnf("%s is left out: %v", place(first.fn.Name, first.fn.File, first.fn.Line), first.err)
		return
	}
	var names []string
	for _, r := range refused {
		names = append(names, r.fn.Name)
	}
	f.warnf("%s: left out %s: %v", f.req, diag.Few(names), first.err)
}

func (f *finder) one(fn *debuginfo.Func) error {
	name := place(fn.Name, fn.File, fn.Line)
	if !f.has("return") {
		s, err := debuginfo.Enters(f.img, f.brief, fn)
		if err != nil {
			return err
		}
		return f.add(probe.Uprobe, s, "function", name)
	}
	return f.returns(fn, name)
}

// inlined adds the inlined copies. Those that cannot be probed are left out with one warning; if that leaves nothing,
// it is an error. What is given is why the image has none.
func (f *finder) inlined(c *probe.Comp, pat pattern) error {
	var names []string
	var first error
	points := map[*debuginfo.Func]*resolved{}
	said := map[*debuginfo.Func]bool{} // its point is listed
	err := debuginfo.EachCopy(f.img, f.brief, pat.fn, func(in *debuginfo.InlineSite) {
		if in.Func == nil || !pat.means(in.Func) || said[in.Func] && in.Site.Insn != debuginfo.InsnRefused {
			return
		}
		s := in.Site
		s.Kind, s.Inline = debuginfo.AtInline, in
		point := func() *resolved {
			r := points[in.Func]
			if r == nil {
				r = f.resolve("function", place(in.Func.Name, in.Func.File, in.Func.Line))
				points[in.Func] = r
			}
			return r
		}
		n := len(f.seen)
		if err := f.addAs(probe.Uprobe, s, point); err != nil {
			if first == nil {
				first = err
			}
			if name := in.Func.Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if f.brief && len(f.seen) > n {
			said[in.Func] = true
		}
	})
	switch {
	case first == nil:
	case len(f.sites) == 0:
		f.errorf(c, "the inlined copy of %s: %v", names[0], first)
	default:
		f.warnf("%s: left out inlined copies of %s: %v", f.req, diag.Few(names), first)
	}
	return err
}

// notFound says why no function matches.
func (f *finder) notFound(c *probe.Comp, pat pattern, err error, n int) {
	f.whyNotFound(c, pat, err, n)
	// A Go program keeps the names of its functions when it is stripped.
	if why := f.img.NoTypes(); f.img.Lang() != debuginfo.Go && !f.img.HasTypes() && why != "" && len(f.diag) > 0 {
		f.diag[len(f.diag)-1].Note(source.Span{}, "%s: %s", f.path, why)
	}
}

func (f *finder) whyNotFound(c *probe.Comp, pat pattern, err error, n int) {
	var d *diag.Diagnostic
	switch {
	case f.has("inline"):
		d = f.errorf(c, "%s has no inlined copy of %s", f.path, c.Arg.Str)
		if fs, _ := f.img.Funcs(pat.fn); len(fs) > 0 {
			d.Hintf("it has the function itself: leave out .inline")
		}
		return
	case n == 0:
		if inl, _ := f.img.Inlined(pat.fn); len(inl) > 0 && (f.has("call") || f.has("return") || f.has("exported")) {
			if pat.file == "" {
				d = f.errorf(c, "%s is inlined everywhere in %s", pat.fn, f.path)
				for i, in := range inl {
					if i == 3 {
						break
					}
					d.Note(source.Span{}, "inlined at %s:%d", in.CallFile, in.CallLine)
				}
				flag := "-fno-inline"
				if f.img.Lang() == debuginfo.Go {
					flag = "-gcflags=-l"
				}
				d.Hintf("use .inline, or build it with %s", flag)
				return
			}
		}
	}
	var nf *debuginfo.NotFoundError
	if errors.As(err, &nf) {
		detail := ""
		if nf.Detail != "" {
			detail = " (" + nf.Detail + ")"
		}
		if line := near.Line(c); line != "" {
			f.errorf(c, "no function %q in %s", c.Arg.Str, f.path).Hint = line
			return
		}
		d = f.errorf(c, "no function %q in %s%s", c.Arg.Str, f.path, detail)
		like := nf.Near
		if len(like) == 0 {
			like = near.Functions(f.img, pat.fn)
		}
		if len(like) > 0 {
			d.Hintf("did you mean %s?", strings.Join(like, ", "))
		}
		return
	}
	if all, _ := f.img.Funcs(pat.fn); len(all) > 0 && pat.file != "" {
		d = f.errorf(c, "no function %q in %s", c.Arg.Str, f.path)
		d.Hintf("%s is declared at %s:%d", all[0].Name, all[0].File, all[0].Line)
		return
	}
	d = f.errorf(c, "no function %q in %s", c.Arg.Str, f.path)
	if d.Hint = near.Line(c); d.Hint != "" {
		return
	}
	if like := near.Functions(f.img, pat.fn); len(like) > 0 {
		d.Hintf("did you mean %s?", strings.Join(like, ", "))
	}
}
