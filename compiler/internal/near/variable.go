package near

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/probe"
)

// Variable gives the hint for a variable that nothing assigns: functions and variables that are like name, or that have
// this name where the probes at are.
func Variable(p *elab.Program, in *elab.Info, at []*probe.Site, name string) string {
	names := slices.Clone(in.Offered)
	for _, l := range in.Locals {
		if l.Written {
			names = append(names, l.Name)
		}
	}
	for _, g := range p.Globals {
		if g.User {
			names = append(names, g.Decl.Name.Name)
		}
	}
	for _, f := range p.Funcs {
		if f.Decl.Name.Name == name {
			return fmt.Sprintf("%s is a function: %s()", name, name)
		}
	}
	gone := Gone(at, name)
	switch near := diag.Nearest(name, names, 3); {
	case intrinsic.Lookup(name) != nil:
		return fmt.Sprintf("%s is a function: %s()", name, name)
	case gone != "":
		return gone
	case len(at) > 0 && traced(at[0], name):
		return "the variable of the traced program is $" + name
	case habits.Variable(name) != "":
		return habits.Variable(name)
	case len(near) > 0:
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return ""
}

// traced reports whether the traced program has a variable of this name at a place.
func traced(s *probe.Site, name string) bool {
	var vs []*debuginfo.Var
	switch {
	case s.Names != nil:
		vs = s.Names.Vars()
	case s.Image != nil:
		vs, _ = s.Image.Vars(s.At)
	}
	return slices.ContainsFunc(vs, func(v *debuginfo.Var) bool { return v.Name == name && v.Err == nil })
}
