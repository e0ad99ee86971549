package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/loc"
)

// Users of the group stapusr may use functions that tell nothing about the kernel; those of stapsys and
// stapdev may use all of them. What the script reaches through functions of the library is looked at too,
// and reported where the script calls.

// privileged is the check of a program for --privilege=stapusr.
type privileged struct {
	ds  diag.List
	why map[*elab.Func]*elab.Func // the function that is not allowed, behind each that reaches one
}

// Privilege reports the functions that a script for users of the given group may not use.
func Privilege(p *elab.Program, group string) diag.List {
	if group != "stapusr" {
		return nil
	}
	c := &privileged{why: map[*elab.Func]*elab.Func{}}
	for _, f := range p.Funcs {
		if f.Decl.Code != nil && !unprivileged(f) {
			c.why[f] = f
		}
	}
	// What a function calls is not allowed, so neither is it: until nothing changes.
	for changed := true; changed; {
		changed = false
		for _, f := range p.Funcs {
			if c.why[f] != nil {
				continue
			}
			for _, g := range f.Info.Calls {
				for ; g != nil; g = g.Next {
					if bad := c.why[g]; bad != nil && (c.why[f] == nil || bad.Name < c.why[f].Name) {
						c.why[f], changed = bad, true
					}
				}
			}
		}
	}
	for _, f := range p.Funcs {
		if f.User {
			c.inside(&f.Info)
		}
	}
	for _, pr := range p.Probes {
		c.inside(&pr.Info)
	}
	return c.ds
}

// unprivileged reports whether the code of f may be used by everybody.
func unprivileged(f *elab.Func) bool {
	if f.Intrinsic != nil {
		return f.Intrinsic.Unprivileged
	}
	return allowsAll(f.Decl.Code.Code)
}

// allowsAll reports whether embedded code says that it may be used by everybody.
func allowsAll(code string) bool {
	return hasComment(code, "unprivileged") || hasComment(code, "myproc-unprivileged")
}

// inside reports what one handler or function may not do.
func (c *privileged) inside(in *elab.Info) {
	for e, t := range in.Targets {
		if readsKernel(t) {
			c.ds.Errorf(diag.Semantic, diag.Privilege, e.Range(),
				"%s reads memory of the kernel, which is not for users of the group stapusr (--privilege=stapusr)",
				targetText(e))
		}
	}
	for call, f := range in.Calls {
		for ; f != nil; f = f.Next {
			bad := c.why[f]
			if bad == nil || f.User {
				continue
			}
			c.report(call, bad)
			break
		}
	}
}

// readsKernel reports whether the value of a target expression comes from the kernel's memory.
func readsKernel(t *elab.Target) bool {
	progs := []loc.Prog{t.Value, t.Len}
	for _, p := range t.Pretty {
		progs = append(append(progs, p.Value, p.Len), p.Words...)
	}
	for _, p := range progs {
		for _, s := range p.Steps {
			if (s.Op == loc.Deref || s.Op == loc.Through) && s.Kernel {
				return true
			}
		}
	}
	return false
}

func (c *privileged) report(call *ast.Call, bad *elab.Func) {
	d := c.ds.Errorf(diag.Semantic, diag.Privilege, call.Fun.Span,
		"%s() is not for users of the group stapusr (--privilege=stapusr)", call.Fun.Name)
	if bad.Name != call.Fun.Name {
		d.Hintf("it uses %s()", bad.Name)
	}
}
