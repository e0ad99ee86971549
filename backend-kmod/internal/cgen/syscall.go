package cgen

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// syscalls are system calls of programs, by their numbers.
var syscalls = hook{
	table: "syscall",
	spot: func(u *unit, pr *ir.Probe, s *probe.Site, sp *spot) {
		sp.nr = s.Syscall.Nr
		if sp.nr == probe.AnySyscall {
			sp.except = u.except(pr.Sites, s.Kind)
		}
		if sp.pid != 0 {
			sp.path = ""
		}
	},
	row: func(a *at, file, _ int, common string) string {
		row := fmt.Sprintf(".nr = %d, .ret = %v, .file = %d, %s", a.nr, a.kind.Returns(), file, common)
		if a.except != "" {
			row += ", .except = " + a.except
		}
		return row
	},
}

// except writes the set of the system calls for which a probe has sites of their own, and gives its name, "" for none.
func (u *unit) except(sites []*probe.Site, kind probe.Kind) string {
	const slots = 512
	var set [slots / 64]uint64
	some := false
	for _, s := range sites {
		if s.Kind == kind && s.Syscall.Nr >= 0 && s.Syscall.Nr < slots {
			set[s.Syscall.Nr/64] |= 1 << (s.Syscall.Nr % 64)
			some = true
		}
	}
	if !some {
		return ""
	}
	name := u.unique("not_those")
	u.printf("static const u64 %s[] = {", name)
	for _, w := range set {
		u.printf(" 0x%xULL,", w)
	}
	u.printf(" };\n\n")
	return name
}

// makers are system calls that return in another process or thread too.
var makers = []string{"clone", "clone3", "fork", "vfork"}

// setCallWord changes an argument of a system call, or its result.
func setCallWord(g *gen, in *ir.Instr) {
	n := in.Args[0].Int
	if g.probe < 0 {
		g.refuse(in.Pos, "system calls are changed in probes, not in functions of the script that several call")
		return
	}
	for _, s := range g.p.Probes[g.probe].Sites {
		switch {
		case s.Kind.Class() != probe.Syscall:
			g.refuse(in.Pos, "%s is no system call whose arguments could be changed", s.Title())
			return
		case n != ir.SyscallRet && slices.Contains(makers, s.Func):
			g.refuse(in.Pos, "arguments of %s cannot be changed: the process or thread that it makes would go on "+
				"with registers that are not its own", s.Func)
			return
		}
	}
	g.recalls = true
	g.or(in, "gs_call_set(c, %d, hit, %d, %s)", in.Pos, n, g.long(in.Args[1]))
}
