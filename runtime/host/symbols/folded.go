package symbols

import (
	"path/filepath"
	"slices"
	"strings"
)

// unfolded are the characters of names that mean something in folded stacks.
var unfolded = strings.NewReplacer(";", ",", "\n", " ", "\r", " ")

// Folded gives the functions of a program's stack as flamegraph.pl and its like read them: the outermost one first,
// inlined ones among them, with semicolons between. Code without a name is called after its file, "[libc.so.6]"; "..."
// comes first where the stack goes on.
func (t *Table) Folded(pid uint32, stack Trace) string {
	var names []string
	for i, addr := range stack.PCs {
		f := t.Name(pid, addr, !stack.exact(i))
		for _, fr := range f.Frames {
			names = append(names, unfolded.Replace(fr.Func))
		}
		switch {
		case len(f.Frames) > 0:
		case f.Module != "":
			names = append(names, "["+unfolded.Replace(filepath.Base(f.Module))+"]")
		default:
			names = append(names, "[unknown]")
		}
	}
	if stack.Cut {
		names = append(names, "...")
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}

// Unfolded gives a line for each function of a folded stack, the innermost first.
func Unfolded(folded string) string {
	names := strings.Split(folded, ";")
	slices.Reverse(names)
	return " " + strings.Join(names, "\n ") + "\n"
}

// KernelFolded is Folded for a stack of the kernel, whose names end in "_[k]".
func (t *Table) KernelFolded(stack []uint64) string {
	var names []string
	for i, addr := range stack {
		name := "[unknown]"
		if f := t.KernelName(addr, i > 0); f.Func != "" {
			name = f.Func + "_[k]"
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}
