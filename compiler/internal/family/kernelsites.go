package family

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// kfinder collects the sites of one request in the kernel or one module.
type kfinder struct {
	*match
	img   *kbtf.Image
	what  string // function or statement
	sites []*probe.Site
	black []string // what the kernel allows no probes on
	why   string   // of the first
}

// fromFile reports what a vmlinux file with debug information does not tell, or that there is none.
func (f *kfinder) fromFile(c *probe.Comp, err error, instead string) {
	var needs *kbtf.NeedsDWARFError
	d := f.errorf(c, "%v", err)
	if !errors.As(err, &needs) {
		f.lineHint(d, err)
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
		if !f.onlyInlined(c, pat) {
			f.notFound(c, pat.fn, err)
		}
		return
	}
	if f.has("exported") {
		kept := exported(funcs)
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
	kept := pat.among(all, f.img)
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
		if in.Func == nil || !pat.means(in.Func) {
			continue
		}
		f.found(c, in.Site, place(in.Func.Name, in.Func.File, in.Func.Line))
	}
	if len(f.sites) == 0 && len(f.black) == 0 && !f.diag.HasErrors() {
		f.errorf(c, "%s has no inlined copy of %s", f.img.What(), c.Arg.Str)
	}
}

// onlyInlined adds the copies of a function that has no code of its own, where entries of calls are not asked for.
func (f *kfinder) onlyInlined(c *probe.Comp, pat pattern) bool {
	others := []string{"call", "return", "exported", "offset"}
	if pat.isGlob() || f.what != "function" || slices.ContainsFunc(others, f.has) {
		return false
	}
	copies, err := f.img.Inlined(pat.fn)
	if err != nil || len(copies) == 0 {
		return false
	}
	f.inlined(c, pat)
	return true
}

// found adds a site that debug information gave; what the kernel allows no probes on is left out.
func (f *kfinder) found(c *probe.Comp, s debuginfo.Site, name string) {
	if f.img.Gone(s.Func) != "" {
		return
	}
	if why := f.img.Blacklisted(s.Func); why != "" && !f.env.Guru {
		f.forbidden(name, why)
		return
	}
	if err := f.add(probe.Kprobe, s, name); err != nil {
		f.warnf("%s is left out: %v", name, err)
	}
}

// forbidden notes what the kernel allows no probes on.
func (f *kfinder) forbidden(name, why string) {
	if f.black = append(f.black, name); f.why == "" {
		f.why = why
	}
}

// failing are functions that are there to have the kernel's work fail, and the option that newer kernels have them by.
var failing = map[string]string{
	"should_failslab":        "CONFIG_FAILSLAB",
	"should_fail_alloc_page": "CONFIG_FAIL_PAGE_ALLOC",
}

func (f *kfinder) notFound(c *probe.Comp, name string, err error) {
	var nf *debuginfo.NotFoundError
	if !errors.As(err, &nf) {
		f.errorf(c, "%v", err)
		return
	}
	d := f.errorf(c, "no function %q in %s", name, f.img.What())
	switch {
	case failing[name] != "":
		d.Hintf("newer kernels have it only where they are built with %s; fail a system call or a function of a "+
			"program in its place", failing[name])
	case nf.Detail != "":
		d.Hintf("%s", nf.Detail)
	case len(nf.Near) > 0:
		d.Hintf("did you mean %s?", strings.Join(nf.Near, ", "))
	case !strings.ContainsAny(name, "*?["):
		if copies, err := f.img.Inlined(name); err == nil && len(copies) > 0 && copies[0].In != nil {
			d.Hintf("the compiler has inlined it, such as into %s: .inline probes the copies", copies[0].In.Name)
			return
		}
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
			f.forbidden(fn.Name, why)
			return
		case !f.env.Guru:
			f.diag.Errorf(diag.Semantic, CodeBlacklist, f.span(f.what),
				"no match for %s: %s is on the kernel's blacklist of functions without probes: %s", f.req, fn.Name,
				why).
				Hintf("-g tries it all the same")
			return
		default:
			f.diag.Warnf(diag.Semantic, CodeBlacklist, f.span(f.what),
				"%s is on the kernel's blacklist of functions without probes (%s), so the kernel will refuse this",
				fn.Name, why)
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
			if comps[i].Arg.IsString || f.what == "function" {
				comps[i].Arg = text(name)
			}
		}
	}
	s := &probe.Site{
		Kind: kind, Kernel: probe.KernelPart{Symbol: symbol, Offset: off}, Image: f.img, At: at, Comps: comps,
		Point: probe.Request{Comps: comps}.String(),
	}
	if c := f.at(f.what); c.Arg.IsString {
		s.Kernel.Wild = strings.ContainsAny(c.Arg.Str, "*?[")
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
		s.Kernel.MaxActive = int(n.Arg.Num)
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
			f.noLine(c)
			return
		}
		sites, err := pat.find(f.img, f.has("nearest"))
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
