package godwarf

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// named leaves of several variables with one name the one that the name stands for in the site's line. Blocks of the
// source without code of their own are not in the debug information, nor are all variables of those that are; so the
// source is asked, where it is at hand. Without it, a variable of a block hides an argument.
func (v *view) named(vars []*debuginfo.Var) (out []*debuginfo.Var) {
	if v.s.Kind != debuginfo.AtLine || v.s.Line == 0 {
		return vars
	}
	for i, x := range vars {
		line := v.meant(x)
		same := func(y *debuginfo.Var) bool { return y != x && y.Name == x.Name && own(y) }
		hides := func(y *debuginfo.Var) bool {
			if line > 0 {
				return same(y) && y.Line == line
			}
			return same(y) && y.Kind == debuginfo.Local && x.Kind != debuginfo.Local && y.Line < v.s.Line
		}
		switch {
		case line == x.Line && line > 0:
		case own(x) && slices.ContainsFunc(vars, hides), line > 0 && slices.ContainsFunc(vars[:i], same):
			continue
		case line > 0:
			y := *x
			y.Err = v.notLive(x.Name, fmt.Sprintf("in this line the name is that of another variable, which line %d "+
				"declares and the debug information does not have here", line))
			x = &y
		}
		out = append(out, x)
	}
	return out
}

// own reports whether x is a variable of the function itself.
func own(x *debuginfo.Var) bool { return x.Kind != debuginfo.GlobalVar && x.Kind != debuginfo.Captured }

// meant is the line that declares what the name of x stands for in the site's line, 0 if that is not known.
func (v *view) meant(x *debuginfo.Var) int {
	if v.s.Kind != debuginfo.AtLine || v.s.Line == 0 || !own(x) {
		return 0
	}
	src := v.source()
	if src == nil || !src.Declares(x.Name, x.Line) {
		return 0
	}
	line, _ := src.Visible(x.Name, v.s.Line)
	return line
}
