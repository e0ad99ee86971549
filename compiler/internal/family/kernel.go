package family

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// CodeBlacklist is an error, in guru mode a warning, for functions that the kernel allows no probes on.
const CodeBlacklist diag.Code = "blacklist"

// inKernel is what may follow kernel and module(...).
func inKernel() []*form {
	const later = "not available in this version"
	return []*form{
		{name: "function", args: num | str, resolve: kernelFunctions, kids: []*form{
			{name: "call", args: bare, resolve: kernelFunctions},
			{name: "inline", args: bare, resolve: kernelFunctions},
			{name: "exported", args: bare, resolve: kernelFunctions},
			{name: "return", args: bare, resolve: kernelFunctions, kids: []*form{{name: "maxactive", args: num, resolve: kernelFunctions}}},
			{name: "offset", args: num, resolve: kernelFunctions},
			{name: "callee", args: str, refuse: "probes by call chain are " + later, hint: "probe the called function and test the caller in the handler"},
			{name: "callees", args: bare | num, refuse: "probes by call chain are " + later, hint: "probe the called functions and test the caller in the handler"},
			{name: "label", args: str, refuse: "probes at labels are " + later, hint: `use .statement with the label's line, or "function+offset"`},
		}},
		{name: "statement", args: num | str, resolve: kernelStatements, kids: []*form{
			{name: "nearest", args: bare, resolve: kernelStatements},
			{name: "absolute", args: bare, resolve: kernelStatements},
		}},
		{name: "data", args: num | str, refuse: "hardware watchpoints are " + later, hint: "probe the functions that change the variable"},
		{name: "mark", args: str, refuse: "kernels since 2.6.32 have no markers", hint: "tracepoints took their place: kernel.trace"},
	}
}

// kernels are the families of probes on the kernel's code.
func kernels() []*form {
	byName := func() *form {
		return &form{name: "function", args: str, resolve: kernelFunctions, kids: []*form{
			{name: "call", args: bare, resolve: kernelFunctions},
			{name: "return", args: bare, resolve: kernelFunctions, kids: []*form{{name: "maxactive", args: num, resolve: kernelFunctions}}},
			{name: "offset", args: num, resolve: kernelFunctions},
		}}
	}
	return []*form{
		{name: "module", args: str, kids: inKernel()},
		{name: "kprobe", args: bare, kids: []*form{
			byName(),
			{name: "module", args: str, kids: []*form{byName()}},
			{name: "statement", args: num, kids: []*form{{name: "absolute", args: bare, resolve: kernelStatements}}},
		}},
	}
}

// Kern is the kernel that probes and casts mean, opened when first asked for.
func (e *Env) Kern() *kbtf.Kernel {
	if e.Kernel == nil {
		e.Kernel = kbtf.New(kbtf.Config{})
	}
	return e.Kernel
}

// kfinder collects the sites of one request in the kernel or one module.
type kfinder struct {
	*match
	img   *kbtf.Image
	what  string // function or statement
	sites []*probe.Site
	black []string // what the kernel allows no probes on
	why   string   // of the first
}

// kernelImages finds the kernel, or the modules that the request names.
func (m *match) kernelImages() []*kbtf.Image {
	k := m.env.Kern()
	c := m.at("module")
	if c == nil {
		im, err := k.Image("")
		if err != nil {
			m.errorf(nil, "%v", err)
			return nil
		}
		return []*kbtf.Image{im}
	}
	names := []string{c.Arg.Str}
	if strings.ContainsAny(c.Arg.Str, "*?") {
		all, err := k.LoadedModules()
		if err != nil {
			m.errorf(c, "%v", err)
			return nil
		}
		names = nil
		for _, n := range all {
			if glob(kbtf.ModuleName(c.Arg.Str), n) {
				names = append(names, n)
			}
		}
		if len(names) == 0 {
			m.errorf(c, "no loaded module has a name like %q", c.Arg.Str)
			return nil
		}
	}
	var out []*kbtf.Image
	for _, n := range names {
		im, err := k.Image(n)
		if err != nil {
			d := m.errorf(c, "%v", err)
			var nf *debuginfo.NotFoundError
			if errors.As(err, &nf) {
				if len(nf.Near) > 0 {
					d.Hintf("did you mean %s?", strings.Join(nf.Near, ", "))
				} else {
					d.Hintf("load it with modprobe first; what is built into the kernel is kernel.function")
				}
			}
			return nil
		}
		out = append(out, im)
	}
	return out
}

// eachKernel runs find for the kernel or every module that is meant. What does not match in one of several modules is left out as
// long as another has it.
func (m *match) eachKernel(what string, find func(*kfinder)) []*probe.Site {
	imgs := m.kernelImages()
	var sites []*probe.Site
	var failed diag.List
	var black []string
	why := ""
	for _, im := range imgs {
		mp := &match{env: m.env, req: m.req}
		f := &kfinder{match: mp, img: im, what: what}
		find(f)
		sites = append(sites, f.sites...)
		black = append(black, f.black...)
		if why == "" {
			why = f.why
		}
		for _, d := range mp.diag {
			if d.Severity == diag.Error {
				failed = append(failed, d)
			} else {
				m.diag.Add(d)
			}
		}
	}
	switch {
	case len(sites) == 0:
		for _, d := range failed {
			m.diag.Add(d)
		}
		if len(failed) == 0 && len(black) > 0 {
			m.diag.Errorf(diag.Semantic, CodeBlacklist, m.span(what), "no match for %s: the kernel allows no probes on %s: %s", m.req, few(black), why)
		}
	case len(black) > 0:
		m.warnf("%s: %s left out, the kernel allows no probes there", m.req, few(black)).Note(source.Span{}, "%s: %s", black[0], why)
	}
	return sites
}

func (m *match) span(name string) source.Span {
	if c := m.at(name); c != nil && c.Span.From.IsValid() {
		return c.Span
	}
	return m.req.Span
}

// few shows the first of many names.
func few(names []string) string {
	const show = 5
	if len(names) > show {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:show], ", "), len(names)-show)
	}
	return strings.Join(names, ", ")
}

// kernelFunctions resolves kernel.function, module(...).function and kprobe.function.
func kernelFunctions(m *match) []*probe.Site {
	c := m.at("function")
	if !c.Arg.IsString {
		return m.eachKernel("function", func(f *kfinder) { f.functionAt(c, uint64(c.Arg.Num)) })
	}
	pat, err := parsePattern(c.Arg.Str)
	if err != nil {
		m.errorf(c, "%v", err)
		return nil
	}
	if pat.all || pat.to != 0 || pat.rel {
		m.errorf(c, "a function is named by one line of it").Hintf("use .statement for lines")
		return nil
	}
	return m.eachKernel("function", func(f *kfinder) { f.functions(c, pat) })
}

// kernelStatements resolves kernel.statement and module(...).statement.
func kernelStatements(m *match) []*probe.Site {
	c := m.at("statement")
	if !c.Arg.IsString {
		return m.eachKernel("statement", func(f *kfinder) { f.statementAt(c, uint64(c.Arg.Num)) })
	}
	if m.has("absolute") {
		m.errorf(c, "an absolute statement is an address").Hintf("write .statement(0x...).absolute")
		return nil
	}
	pat, err := parsePattern(c.Arg.Str)
	if err != nil {
		m.errorf(c, "%v", err)
		return nil
	}
	return m.eachKernel("statement", func(f *kfinder) { f.statement(c, pat) })
}

// fromFile reports what a vmlinux file with debug information does not tell, or that there is none.
func (f *kfinder) fromFile(c *probe.Comp, err error, instead string) {
	var needs *kbtf.NeedsDWARFError
	var nf *debuginfo.NotFoundError
	d := f.errorf(c, "%v", err)
	if !errors.As(err, &needs) {
		switch {
		case !errors.As(err, &nf):
		case len(nf.Near) > 0:
			d.Hintf("did you mean %s?", strings.Join(nf.Near, ", "))
		case nf.What == "line" && !f.has("nearest"):
			d.Hintf("append .nearest for the next line with code")
		}
		return
	}
	d.Note(source.Span{}, "distributions have it in a package of its own (linux-image-...-dbg, kernel-debuginfo)")
	if instead != "" {
		d.Hintf("%s", instead)
	}
}

func (f *kfinder) functions(c *probe.Comp, pat pattern) {
	if f.has("inline") {
		f.inlined(c, pat)
		return
	}
	var funcs []*debuginfo.Func
	var err error
	if pat.file != "" || pat.hasLine {
		if funcs = f.inSource(c, pat); f.diag.HasErrors() {
			return
		}
	} else if funcs, err = f.img.Funcs(pat.fn); err != nil {
		f.notFound(c, pat.fn, err)
		return
	}
	if f.has("exported") {
		kept := funcs[:0:0]
		for _, fn := range funcs {
			if fn.External {
				kept = append(kept, fn)
			}
		}
		if len(kept) == 0 {
			f.errorf(c, "%s is not visible outside of its file", funcs[0].Name)
			return
		}
		funcs = kept
	}
	off := uint64(0)
	if o := f.at("offset"); o != nil {
		if o.Arg.Num < 0 {
			f.errorf(o, "an offset is not negative")
			return
		}
		off = uint64(o.Arg.Num)
	}
	for _, fn := range funcs {
		f.one(c, fn, off, !pat.isGlob())
	}
}

// inSource finds the functions of a source file, by the line of their declaration or of any of their statements.
func (f *kfinder) inSource(c *probe.Comp, pat pattern) []*debuginfo.Func {
	all, err := f.img.SourceFuncs(pat.fn)
	if err != nil {
		f.fromFile(c, err, "leave out @"+strings.SplitN(c.Arg.Str, "@", 2)[1])
		return nil
	}
	var kept []*debuginfo.Func
	for _, fn := range all {
		if pat.inFile(fn.File) && (!pat.hasLine || fn.Line == pat.line) {
			kept = append(kept, fn)
		}
	}
	if len(kept) == 0 && pat.hasLine {
		sites, _ := f.img.LineSites(pat.query(false))
		seen := map[*debuginfo.Func]bool{}
		for _, s := range sites {
			if s.Func != nil && s.Inline == nil && !seen[s.Func] {
				seen[s.Func] = true
				kept = append(kept, s.Func)
			}
		}
	}
	if len(kept) == 0 {
		d := f.errorf(c, "no function %q in %s", c.Arg.Str, f.img.What())
		if len(all) > 0 {
			d.Hintf("%s is declared at %s:%d", all[0].Name, all[0].File, all[0].Line)
		}
	}
	return kept
}

// inlined adds the inlined copies of functions.
func (f *kfinder) inlined(c *probe.Comp, pat pattern) {
	copies, err := f.img.Inlined(pat.fn)
	if err != nil {
		f.fromFile(c, err, "leave out .inline for the function itself")
		return
	}
	for _, in := range copies {
		if in.Func == nil || !pat.inFile(in.Func.File) || pat.hasLine && in.Func.Line != pat.line {
			continue
		}
		f.found(c, in.Site, place(in.Func.Name, in.Func.File, in.Func.Line))
	}
	if len(f.sites) == 0 && len(f.black) == 0 && !f.diag.HasErrors() {
		f.errorf(c, "%s has no inlined copy of %s", f.img.What(), c.Arg.Str)
	}
}

// found adds a site that debug information gave; what the kernel allows no probes on is left out.
func (f *kfinder) found(c *probe.Comp, s debuginfo.Site, name string) {
	if f.img.Gone(s.Func) != "" {
		return
	}
	if why := f.img.Blacklisted(s.Func); why != "" && !f.env.Guru {
		if f.black = append(f.black, name); f.why == "" {
			f.why = why
		}
		return
	}
	if err := f.add(probe.Kprobe, s, name); err != nil {
		f.warnf("%s is left out: %v", name, err)
	}
}

func (f *kfinder) notFound(c *probe.Comp, name string, err error) {
	var nf *debuginfo.NotFoundError
	if !errors.As(err, &nf) {
		f.errorf(c, "%v", err)
		return
	}
	d := f.errorf(c, "no function %q in %s", name, f.img.What())
	switch {
	case nf.Detail != "":
		d.Hintf("%s", nf.Detail)
	case len(nf.Near) > 0:
		d.Hintf("did you mean %s?", strings.Join(nf.Near, ", "))
	case !strings.ContainsAny(name, "*?["):
		d.Hintf("functions that the compiler inlined everywhere have no code of their own to probe")
	}
}

// one adds the entry of fn, its return, or the instruction off bytes into it.
func (f *kfinder) one(c *probe.Comp, fn *debuginfo.Func, off uint64, exact bool) {
	if why := f.img.Gone(fn); why != "" {
		f.errorf(c, "%s cannot be probed: %s", fn.Name, why)
		return
	}
	if why := f.img.Blacklisted(fn); why != "" {
		switch {
		case !exact:
			if f.black = append(f.black, fn.Name); f.why == "" {
				f.why = why
			}
			return
		case !f.env.Guru:
			f.diag.Errorf(diag.Semantic, CodeBlacklist, f.span(f.what), "no match for %s: %s is on the kernel's blacklist of functions without probes: %s", f.req, fn.Name, why).
				Hintf("-g tries it all the same")
			return
		default:
			f.diag.Warnf(diag.Semantic, CodeBlacklist, f.span(f.what), "%s is on the kernel's blacklist of functions without probes (%s), so the kernel will refuse this", fn.Name, why)
		}
	}
	kind, at := probe.Kprobe, debuginfo.Site{}
	var err error
	if f.has("return") {
		kind, at = probe.Kretprobe, f.img.ReturnSite(fn)
	} else if at, err = f.img.OffsetSite(fn, off); err != nil {
		if exact {
			f.errorf(c, "%v", err)
		}
		return
	}
	name := place(fn.Name, fn.File, fn.Line)
	if off != 0 && f.what == "statement" {
		name = fmt.Sprintf("%s+%#x", fn.Name, off)
	}
	if err := f.add(kind, at, name); err != nil {
		if exact {
			f.errorf(c, "%v", err)
		} else {
			f.warnf("%s is left out: %v", fn.Name, err)
		}
	}
}

// add makes a probe.Site. name stands in the resolved point for the pattern.
func (f *kfinder) add(kind probe.Kind, at debuginfo.Site, name string) error {
	symbol, off, err := f.img.Place(at)
	if err != nil {
		return err
	}
	comps := append([]probe.Comp(nil), f.req.Comps...)
	for i := range comps {
		switch comps[i].Name {
		case "module":
			comps[i].Arg = text(f.img.Module())
		case f.what:
			if comps[i].Arg != nil && comps[i].Arg.IsString {
				comps[i].Arg = text(name)
			} else if kind == probe.Kretprobe || f.what == "function" {
				comps[i].Arg = text(name)
			}
		}
	}
	s := &probe.Site{
		Kind: kind, Symbol: symbol, Offset: off, Image: f.img, At: at, Comps: comps,
		Point: probe.Request{Comps: comps}.String(),
	}
	if c := f.at(f.what); c.Arg.IsString {
		s.Wild = strings.ContainsAny(c.Arg.Str, "*?[")
	}
	if at.Func != nil {
		s.Func = at.Func.Name
	}
	if at.Kind == debuginfo.AtInline && at.Inline != nil && at.Inline.Func != nil {
		s.Func = at.Inline.Func.Name
	}
	if n := f.at("maxactive"); n != nil {
		if n.Arg.Num < 1 || n.Arg.Num > 4096 {
			f.errorf(n, "maxactive is 1 to 4096, which is the kernel's limit")
			return nil
		}
		s.MaxActive = int(n.Arg.Num)
	}
	f.sites = append(f.sites, s)
	return nil
}

func (f *kfinder) functionAt(c *probe.Comp, pc uint64) {
	if _, err := f.img.SiteAt(pc); err != nil {
		f.errorf(c, "%v", err)
		return
	}
	f.one(c, f.img.FuncAt(pc), 0, true)
}

func (f *kfinder) statementAt(c *probe.Comp, pc uint64) {
	at, err := f.img.SiteAt(pc)
	if err != nil {
		f.errorf(c, "%v", err)
		return
	}
	f.one(c, at.Func, pc-at.Func.Entry, true)
}

// statement resolves "function", which is its first statement, "function+offset" and "function@file:line".
func (f *kfinder) statement(c *probe.Comp, pat pattern) {
	if pat.file != "" || pat.hasLine {
		if !pat.hasLine {
			f.errorf(c, "the line is missing").Hintf(`write "%s:LINE"`, c.Arg.Str)
			return
		}
		sites, err := f.img.LineSites(pat.query(f.has("nearest")))
		if err != nil {
			f.fromFile(c, err, `an instruction can be named by its distance from the function's first byte: "function+offset"`)
			return
		}
		for _, s := range sites {
			fn := s.Func.Name
			if s.Inline != nil && s.Inline.Func != nil {
				fn = s.Inline.Func.Name
			}
			f.found(c, s, place(fn, s.File, s.Line))
		}
		return
	}
	name, rest, has := strings.Cut(pat.fn, "+")
	off := uint64(0)
	if has {
		n, err := strconv.ParseUint(rest, 0, 32)
		if err != nil {
			f.errorf(c, "bad offset %q: it is a number of bytes", rest)
			return
		}
		off = n
	}
	funcs, err := f.img.Funcs(name)
	if err != nil {
		f.notFound(c, name, err)
		return
	}
	for _, fn := range funcs {
		f.one(c, fn, off, !pat.isGlob())
	}
}
