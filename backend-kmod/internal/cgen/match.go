package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
)

// match is OpMatch: the automaton of the pattern lies in the module as a table.
func (g *gen) match(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	t := g.p.Regexes[in.N].DFA.Table()
	if t.Start <= t.Found {
		g.set(in, "%d", t.Start/t.Found)
		return
	}
	g.set(in, "gs_match(&%s, %s)", g.automaton(int(in.N)), g.str(in.Args[0]))
}

// automaton writes the table of a pattern, once, and gives its name.
func (u *unit) automaton(n int) string {
	name := fmt.Sprintf("pattern_%d", n)
	if u.names[name] {
		return name
	}
	u.names[name] = true
	u.regexes = true
	re := u.p.Regexes[n]
	t := re.DFA.Table()
	var b strings.Builder
	row := func(n, v int) {
		if n%16 == 0 {
			b.WriteString("\n\t")
		} else {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d,", v)
	}
	fmt.Fprintf(&b, "/* =~ %s */\nstatic const u8 %s_class[256] = {", comment(text(re.Pattern)), name)
	for i, c := range t.Class {
		row(i, int(c))
	}
	fmt.Fprintf(&b, "\n};\nstatic const u16 %s_next[] = {", name)
	for i, s := range t.Next {
		row(i, int(s))
	}
	fmt.Fprintf(&b, "\n};\nstatic const struct gs_automaton %s = { %s_class, %s_next, %d, %d };\n\n", name, name, name,
		t.Start, t.Found)
	u.fmts.WriteString(b.String())
	return name
}
