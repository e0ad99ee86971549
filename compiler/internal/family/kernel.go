package family

import (
	"errors"
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
	return []*form{
		{name: "function", args: num | str, resolve: kernelFunctions, kids: append(
			ofFunction(kernelFunctions, &form{name: "maxactive", args: num, resolve: kernelFunctions}),
			&form{name: "offset", args: num, resolve: kernelFunctions})},
		{name: "statement", args: num | str, resolve: kernelStatements, kids: []*form{
			{name: "nearest", args: bare, resolve: kernelStatements},
			{name: "absolute", args: bare, resolve: kernelStatements},
		}},
		{name: "mark", args: str, refuse: "kernels since 2.6.32 have no markers",
			hint: "tracepoints took their place: kernel.trace"},
	}
}

func kernelForms() *form {
	return &form{name: "kernel", args: bare, kids: append(inKernel(), &form{name: "trace", args: str, resolve: trace},
		watchForms())}
}

// kernels are the families of probes on the kernel's code.
func kernels() []*form {
	byName := func() *form {
		return &form{name: "function", args: str, resolve: kernelFunctions, kids: []*form{
			{name: "call", args: bare, resolve: kernelFunctions},
			{name: "return", args: bare, resolve: kernelFunctions,
				kids: []*form{{name: "maxactive", args: num, resolve: kernelFunctions}}},
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

// eachKernel runs find for the kernel or every module that is meant. What does not match in one of several modules is
// left out as long as another has it.
func (m *match) eachKernel(what string, find func(*kfinder)) []*probe.Site {
	var black []string
	why := ""
	sites, failed := eachOf(m, m.kernelImages(), func(m *match, im *kbtf.Image) []*probe.Site {
		f := &kfinder{match: m, img: im, what: what}
		find(f)
		black = append(black, f.black...)
		if why == "" {
			why = f.why
		}
		return f.sites
	})
	switch {
	case len(sites) == 0:
		m.diag.AddAll(failed)
		if len(failed) == 0 && len(black) > 0 {
			m.diag.Errorf(diag.Semantic, CodeBlacklist, m.span(what),
				"no match for %s: the kernel allows no probes on %s: %s", m.req, diag.Few(black), why)
		}
	case len(black) > 0:
		m.warnf("%s: %s left out, the kernel allows no probes there", m.req, diag.Few(black)).Note(source.Span{},
			"%s: %s", black[0], why)
	}
	return sites
}

func (m *match) span(name string) source.Span {
	if c := m.at(name); c != nil && c.Span.From.IsValid() {
		return c.Span
	}
	return m.req.Span
}

// kernelFunctions resolves kernel.function, module(...).function and kprobe.function.
func kernelFunctions(m *match) []*probe.Site {
	c := m.at("function")
	if m.has("callee") || m.has("callees") {
		return m.eachKernel("function", func(f *kfinder) { f.callees(c) })
	}
	if m.has("label") {
		return m.eachKernel("function", func(f *kfinder) { f.labels(c) })
	}
	if !c.Arg.IsString {
		return m.eachKernel("function", func(f *kfinder) { f.functionAt(c, uint64(c.Arg.Num)) })
	}
	pat, ok := m.functionPattern(c)
	if !ok {
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
	pat, ok := m.statementPattern(c)
	if !ok {
		return nil
	}
	return m.eachKernel("statement", func(f *kfinder) { f.statement(c, pat) })
}
