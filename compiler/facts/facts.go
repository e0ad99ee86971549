// Package facts says what a compiled program takes for granted of the kernel that it runs in: the parameters of the
// functions and events that it probes, what its conditions asked. A program may run wherever all that holds.
//
// In: an ir.Program, a kernel. Out: facts, which are written down beside the program, and messages about those that do
// not hold elsewhere, at the lines of the script that need them.
package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// The kinds of facts. Name is what they are about, Text what is so.
const (
	Function  = "function"  // a function of the kernel: its prototype
	Event     = "event"     // a tracepoint: those of its arguments that the script looks at
	Condition = "condition" // a comparison in %( %): "true" or "false"
)

// only begins what an ir.OpOffset says of something that is not looked up in other kernels.
const only = "this "

// Bound is a place of a script that fits one kernel alone, with the reason.
type Bound struct {
	Pos source.Pos
	Why string
}

// Of says what p takes for granted of a kernel, which is k. A Bound says that it fits no other kernel. Portable: p was
// compiled for others too, so that what it reads of the kernel is looked up there (ir.OpOffset).
func Of(p *ir.Program, k *kbtf.Kernel, portable bool) ([]manifest.Fact, *Bound) {
	if len(p.Codes)+len(p.Prelude) > 0 {
		return nil, &Bound{Why: "it has C of the script in it"}
	}
	var out []manifest.Fact
	for _, pr := range p.Probes {
		values, bound := looks(p, pr, portable)
		if bound != nil {
			return nil, bound
		}
		for _, s := range pr.Sites {
			if why := placed(s); why != "" {
				return nil, &Bound{pr.Pos, why}
			}
			kind, name := about(s)
			if kind == "" || !values.regs && len(values.args) == 0 {
				continue
			}
			f := manifest.Fact{Kind: kind, Name: name, Pos: pr.Pos}
			if proto := prototype(k, kind, name); proto == nil {
				return nil, &Bound{pr.Pos, fmt.Sprintf("the kernel does not tell what arguments %s has", name)}
			} else if kind == Event {
				f.Text = arguments(proto, values.args)
			} else {
				f.Text = declared(proto)
			}
			if !slices.ContainsFunc(out, func(g manifest.Fact) bool {
				return g.Kind == kind && g.Name == name && g.Text == f.Text
			}) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// values are those that a handler looks at of what comes with a hit: registers, arguments by their numbers.
type values struct {
	regs bool
	args []int64
}

// looks gives the values that the handler of pr looks at.
func looks(p *ir.Program, pr *ir.Probe, portable bool) (vs values, bound *Bound) {
	for f := range p.Reached(pr.Handler) {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				switch in := &b.Instrs[i]; {
				case in.Kernel && !portable && bound == nil:
					bound = &Bound{cmp.Or(in.Via, in.Pos), "it reads the kernel's memory by the types of this kernel"}
				case in.Op == ir.OpOffset && bound == nil:
					if why, here := strings.CutPrefix(in.Name, only); here {
						bound = &Bound{cmp.Or(in.Via, in.Pos), "it needs the " + why}
					}
				case in.Op == ir.OpReg, in.Op == ir.OpSetReg:
					vs.regs = true
				case in.Op == ir.OpTraceArg && !slices.Contains(vs.args, in.N):
					vs.args = append(vs.args, in.N)
				}
			}
		}
	}
	slices.Sort(vs.args)
	return vs, bound
}

// placed says why s is a place in one kernel alone, "" if it can be found in others.
func placed(s *probe.Site) string {
	switch {
	case s.Kind.InKernel() && (s.Kernel.Offset != 0 || s.Kernel.Symbol == "_stext"):
		return fmt.Sprintf("%s is an instruction of this kernel", s.Title())
	case s.Kind.Class() == probe.Sample && s.Perf.Type == unix.PERF_TYPE_BREAKPOINT:
		return fmt.Sprintf("%s is an address of this kernel", s.Title())
	case len(s.Callers) > 0 && !s.Kind.InUser():
		return fmt.Sprintf("%s depends on calls in the code of this kernel", s.Title())
	}
	return ""
}

// about says what of the kernel decides which values come with a hit of s, "" if nothing does.
func about(s *probe.Site) (kind, name string) {
	if name := s.KernelFunc(); name != "" {
		return Function, name
	}
	if s.Kind.Words() == probe.EventWords {
		return Event, s.Event
	}
	return "", ""
}

// prototype is what k says of the parameters of a function or event, nil if it does not know.
func prototype(k *kbtf.Kernel, kind, name string) *kbtf.Proto {
	var scopes []*kbtf.Scope
	module := ""
	if kind == Function {
		if mod, fn, ok := strings.Cut(name, ":"); ok {
			module, name = mod, fn
		}
	} else {
		name = name[strings.IndexByte(name, ':')+1:]
	}
	if s, err := k.Kernel(); err == nil {
		scopes = append(scopes, s)
	}
	for _, m := range k.Modules() {
		if module != "" && m != module || module == "" && kind == Function {
			continue
		}
		if s, err := k.Module(m); err == nil {
			scopes = append(scopes, s)
		}
	}
	if module != "" {
		slices.Reverse(scopes)
	}
	for _, s := range scopes {
		var p *kbtf.Proto
		var err error
		if kind == Function {
			p, err = s.FuncProto(name)
		} else {
			p, err = s.TracepointProto(name)
		}
		if err == nil {
			return p
		}
	}
	return nil
}

// arguments writes down some arguments of an event: their numbers, types with sizes, and names.
func arguments(p *kbtf.Proto, which []int64) string {
	var parts []string
	for _, n := range which {
		text := fmt.Sprintf("%d: none", n)
		if n+1 < int64(len(p.Params)) { // the first is the tracer's own
			x := p.Params[n+1]
			text = fmt.Sprintf("%d: %s[%d] %s", n, x.Type.Name, x.Type.Size, x.Name)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// numbers are those of the arguments that arguments wrote down.
func numbers(text string) []int64 {
	var out []int64
	for part := range strings.SplitSeq(text, ", ") {
		n, _, _ := strings.Cut(part, ":")
		if i, err := strconv.ParseInt(n, 10, 8); err == nil && i >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// declared writes a prototype: types with their sizes, and names, which scripts call parameters by.
func declared(p *kbtf.Proto) string {
	var parts []string
	for _, x := range p.Params {
		parts = append(parts, fmt.Sprintf("%s[%d] %s", x.Type.Name, x.Type.Size, x.Name))
	}
	if p.Variadic {
		parts = append(parts, "...")
	}
	return fmt.Sprintf("%s[%d] (%s)", p.Result.Name, p.Result.Size, strings.Join(parts, ", "))
}
