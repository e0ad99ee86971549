// Package family is the registry of probe-point families: begin, timer.ms(N),
// process("x").function("f").return and so on.
//
// In: a probe.Request, whose components are plain, and an Env that opens binaries.
// Out: the probe.Sites it means, or a diagnostic that says why there are none. The
// legal forms stand in one tree (forms.go); a new family is a new branch of it.
package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/near"
	"github.com/gostap/gostap/compiler/probe"
)

// The kinds of diagnostics made here.
const (
	CodeForm    diag.Code = "probe-form"    // no such component, wrong argument
	CodeRefused diag.Code = "probe-refused" // known, but not available
	CodeNoMatch diag.Code = "no-match"      // well-formed, but nothing is there
	CodeLeftOut diag.Code = "left-out"      // warning: some of the matches cannot be probed
)

// takes says which arguments a component may have.
type takes uint8

const (
	bare takes = 1 << iota // none
	num
	str
)

func (t takes) String() string {
	switch t &^ bare {
	case num:
		return "a number"
	case str:
		return "a string"
	case num | str:
		return "a string or a number"
	}
	return "no argument"
}

// form is one component that may stand at its place in a probe point.
type form struct {
	name string
	// any: name stands for whatever is written there.
	any  bool
	args takes
	kids []*form
	// resolve is set where a probe point may end.
	resolve func(*match) []*probe.Site
	// refuse says why the form and all below it are not available.
	refuse string
	// hint says what to use instead.
	hint string
}

// match is a request that has found its form.
type match struct {
	env  *Env
	req  probe.Request
	diag diag.List
}

// at gives the component called name, nil if the request has none.
func (m *match) at(name string) *probe.Comp {
	for i := range m.req.Comps {
		if m.req.Comps[i].Name == name {
			return &m.req.Comps[i]
		}
	}
	return nil
}

func (m *match) has(name string) bool { return m.at(name) != nil }

// errorf reports that the request resolves to nothing because of component c.
func (m *match) errorf(c *probe.Comp, format string, args ...any) *diag.Diagnostic {
	sp := m.req.Span
	if c != nil && c.Span.From.IsValid() {
		sp = c.Span
	}
	return m.diag.Errorf(diag.Semantic, CodeNoMatch, sp, "no match for %s: %s", m.req, fmt.Sprintf(format, args...))
}

func (m *match) warnf(format string, args ...any) *diag.Diagnostic {
	return m.diag.Warnf(diag.Semantic, CodeLeftOut, m.req.Span, format, args...)
}

// Resolve finds the sites of req. Without sites the list holds an error; with sites it
// may hold warnings about matches that cannot be probed.
func Resolve(env *Env, req probe.Request) ([]*probe.Site, diag.List) {
	m := &match{env: env, req: req}
	f := m.find()
	if f == nil {
		return nil, m.diag
	}
	sites := f.resolve(m)
	if len(sites) == 0 && !m.diag.HasErrors() {
		m.errorf(nil, "nothing found")
	}
	if m.diag.HasErrors() {
		return nil, m.diag
	}
	for _, s := range sites {
		if s.Comps == nil {
			s.Comps = req.Comps
		}
		if s.Point == "" {
			s.Point = req.String()
		}
	}
	return sites, m.diag
}

// Known reports whether a request is about a family, available or not, so that no alias can be meant.
func Known(r probe.Request) bool {
	_, compat := compatCall(r)
	return compat || child(families(), r.Comps[0].Name) != nil
}

// Wild lists the complete forms that req stands for when * in the names of its components is matched
// by match. Families that are not available are left out.
func Wild(req probe.Request, match func(pat, name string) bool) []probe.Request {
	var out []probe.Request
	var walk func(kids []*form, i int, comps []probe.Comp)
	walk = func(kids []*form, i int, comps []probe.Comp) {
		for _, f := range kids {
			c := req.Comps[i]
			if f.refuse != "" || !f.any && !match(c.Name, f.name) || !f.takes(c.Arg) {
				continue
			}
			if !f.any {
				c.Name = f.name
			}
			here := append(comps[:len(comps):len(comps)], c)
			switch {
			case i+1 < len(req.Comps):
				walk(f.kids, i+1, here)
			case f.resolve != nil:
				r := req
				r.Comps = here
				out = append(out, r)
			}
		}
	}
	if len(req.Comps) > 0 {
		walk(families(), 0, nil)
	}
	return out
}

// takes reports whether f can have the argument, nil for none.
func (f *form) takes(arg *ast.Literal) bool {
	switch {
	case arg == nil:
		return f.args&bare != 0
	case arg.IsString:
		return f.args&str != 0
	}
	return f.args&num != 0
}

func child(fs []*form, name string) *form {
	for _, f := range fs {
		if f.name == name || f.any {
			return f
		}
	}
	return nil
}

// find walks the components down the tree of forms.
func (m *match) find() *form {
	kids := families()
	var f *form
	for i := range m.req.Comps {
		c := &m.req.Comps[i]
		next := child(kids, c.Name)
		if next == nil {
			m.unknown(c, i, kids)
			return nil
		}
		f = next
		if m.env.Privilege == "stapusr" && !unprivileged(m.req.Comps[:i+1]) {
			m.diag.Errorf(diag.Semantic, diag.Privilege, c.Span,
				"%s is not for users of the group stapusr (--privilege=stapusr)", m.prefix(i+1)).
				Hintf("they may use begin, end, error, never, timers other than hz and profile, and probes in their " +
					"own programs")
			return nil
		}
		if hint := whyGone(m.req); f.refuse != "" && hint != "" {
			m.diag.Errorf(diag.Semantic, CodeRefused, m.req.Span, "%s: kernels from 6.1 on do not have the function "+
				"that it stands for", m.req.String()).Hintf("%s", hint)
			return nil
		}
		if f.refuse != "" {
			d := m.diag.Errorf(diag.Semantic, CodeRefused, c.Span, "%s: %s", m.prefix(i+1), f.refuse)
			if f.hint != "" {
				d.Hintf("%s", f.hint)
			}
			return nil
		}
		if !m.argument(c, f) {
			return nil
		}
		kids = f.kids
	}
	if f == nil {
		m.diag.Errorf(diag.Semantic, CodeForm, m.req.Span, "empty probe point")
		return nil
	}
	if f.resolve == nil {
		m.diag.Errorf(diag.Semantic, CodeForm, m.req.Span, "the probe point %s is not complete", m.req).
			Hintf("it goes on with %s", names(f.kids))
		return nil
	}
	return f
}

func (m *match) prefix(n int) string {
	return probe.Request{Comps: m.req.Comps[:n]}.String()
}

func (m *match) unknown(c *probe.Comp, i int, kids []*form) {
	var all []string
	for _, k := range kids {
		if !strings.HasPrefix(k.name, "__") {
			all = append(all, k.name)
		}
	}
	var d *diag.Diagnostic
	if m.compat() {
		return
	}
	switch {
	case i == 0:
		d = m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "there is no probe point or alias %q", m.req.String())
	case len(kids) == 0:
		m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "nothing can follow %s, found %q", m.prefix(i), c.Name)
		return
	default:
		d = m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "unknown component %q after %s", c.Name, m.prefix(i))
	}
	if h := near.Component(m.req, i, all); h != "" {
		d.Hintf("%s", h)
		return
	}
	if like := diag.Nearest(c.Name, all, 3); len(like) > 0 && !strings.Contains(c.Name, "*") {
		d.Hintf("did you mean %s?", strings.Join(like, ", "))
		return
	}
	same := slices.IndexFunc(all, func(name string) bool { return strings.EqualFold(name, c.Name) })
	switch {
	case same >= 0:
		d.Hintf("did you mean %s?", all[same])
	case i > 0:
		d.Hintf("legal here: %s", names(kids))
	default:
		d.Hint = near.Function(m.req)
	}
}

func names(fs []*form) string {
	var out []string
	for _, f := range fs {
		if f.refuse == "" {
			out = append(out, "."+f.name)
		}
	}
	return strings.Join(out, " ")
}

func (m *match) argument(c *probe.Comp, f *form) bool {
	switch {
	case c.Arg == nil:
		if f.args&bare != 0 {
			return true
		}
		d := m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "%s needs %s in parentheses", c.Name, f.args)
		if f.args&num != 0 {
			d.Hintf("write .%s(1), or another number", c.Name)
		} else {
			d.Hintf("write .%s(\"NAME\")", c.Name)
		}
	case f.args == bare:
		d := m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "%s takes no argument", c.Name)
		if len(f.kids) > 0 {
			d.Hintf("it goes on with %s", names(f.kids))
		}
	case c.Arg.IsFloat:
		m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "%s takes whole numbers, not %s", c.Name, c.Arg.Text).
			Hintf("smaller units are other probes: timer.ms(1500)")
	case c.Arg.IsString && f.args&str == 0, !c.Arg.IsString && f.args&num == 0:
		m.diag.Errorf(diag.Semantic, CodeForm, c.Span, "%s takes %s, not %s", c.Name, f.args, ast.LiteralText(c.Arg))
	default:
		return true
	}
	return false
}
