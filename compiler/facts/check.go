package facts

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/source"
)

// Code is the kind of message about what does not hold here.
const Code diag.Code = "plan-kernel"

// Here is the machine that a program is to run on.
type Here struct {
	Kernel *kbtf.Kernel
	// Holds tells a comparison of %( %).
	Holds func(condition string) (bool, error)
}

// Check says which facts do not hold here; release names this kernel.
func Check(fs []manifest.Fact, h Here, release string) diag.List {
	var ds diag.List
	for _, f := range fs {
		switch f.Kind {
		case Function, Event:
			is := ""
			if proto := prototype(h.Kernel, f.Kind, f.Name); proto != nil && f.Kind == Event {
				is = arguments(proto, numbers(f.Text))
			} else if proto != nil {
				is = declared(proto)
			}
			switch {
			case is == f.Text:
			case is == "":
				ds.Errorf(diag.Load, Code, source.At(f.Pos), "the kernel %s has no %s %s", release, f.Kind, f.Name).
					Hintf("make the plan on a machine with that kernel, of a script that does without")
			default:
				ds.Errorf(diag.Load, Code, source.At(f.Pos), "the %s %s has other arguments in the kernel %s: %s "+
					"where it was made, %s here", f.Kind, f.Name, release, unsized(f.Text), unsized(is)).
					Hintf("make the plan on a machine with that kernel")
			}
		case Condition:
			holds, err := h.Holds(f.Name)
			if err != nil {
				ds.Errorf(diag.Load, Code, source.At(f.Pos), "%s cannot be told of the kernel %s: %v", f.Name, release,
					err)
			} else if fmt.Sprint(holds) != f.Text {
				ds.Errorf(diag.Load, Code, source.At(f.Pos), "%s is %t for the kernel %s, and it was %s "+
					"where the plan was made", f.Name, holds, release, f.Text).
					Hintf("make the plan on a machine with that kernel")
			}
		default:
			ds.Errorf(diag.Load, Code, source.At(f.Pos), "%v", manifest.ErrVersion)
		}
	}
	return ds
}

// unsized writes a prototype for messages.
func unsized(s string) string {
	for {
		i := strings.IndexByte(s, '[')
		j := strings.IndexByte(s, ']')
		if i < 0 || j < i {
			return s
		}
		s = s[:i] + s[j+1:]
	}
}
