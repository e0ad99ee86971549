package cgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// assemble puts the parts of a function together.
func (g *gen) assemble(blocks []string) string {
	var b strings.Builder
	handler := g.probe >= 0
	strs := ""
	for i, r := range g.f.Regs {
		if r.Type == types.String && g.lazy[ir.Reg(i)] == nil &&
			(g.reads[i]+g.writes[i] > 0 || slices.Contains(g.f.Params, ir.Reg(i))) {
			strs += fmt.Sprintf("\tchar %s[%d];\n", g.name(ir.Reg(i)), r.Cap+1)
			g.frame += r.Cap + 1
		}
	}
	if g.pending {
		strs += "\tstruct gs_err err;\n"
		g.frame += g.p.Limits.MaxString + 32
	}
	if strs != "" {
		g.frame = round8(g.frame) + 8
		fmt.Fprintf(&b, "struct %s_strings {\n%s};\n\n", g.fn.name, strs)
	}
	if handler {
		fmt.Fprintf(&b, "/* probe %s */\nstatic void %s(struct gs_hit *hit __maybe_unused)\n{\n",
			comment(g.probes.Name), g.fn.name)
	} else {
		fmt.Fprintf(&b, "%s\n{\n", g.signature(g.fn))
	}
	heavy := handler && !g.light && g.timed()
	if handler && !g.light {
		b.WriteString("\tstruct gs_ctx *c;\n")
	}
	if heavy {
		b.WriteString("\tu64 began;\n")
		g.guarded = true
	}
	if strs != "" {
		fmt.Fprintf(&b, "\tstruct %s_strings *L;\n", g.fn.name)
	}
	if !handler {
		g.vars["rc"] = "int"
	}
	for _, v := range []string{"rc", "unread"} {
		if t := g.vars[v]; t != "" {
			fmt.Fprintf(&b, "\t%s %s __maybe_unused = 0;\n", t, v)
		}
	}
	read := wordsRead(blocks)
	for i, r := range g.f.Regs {
		if r.Type != types.String && !slices.Contains(g.f.Params, ir.Reg(i)) && g.reads[i]+g.writes[i] > 0 ||
			g.lazy[ir.Reg(i)] != nil {
			unused := ""
			if g.lazy[ir.Reg(i)] != nil || !read[g.name(ir.Reg(i))] {
				unused = " __maybe_unused"
			}
			fmt.Fprintf(&b, "\ts64 %s%s = 0;\n", g.name(ir.Reg(i)), unused)
			if a := g.lazy[ir.Reg(i)]; a != nil && a.Kind == wire.Quoted {
				fmt.Fprintf(&b, "\ts64 %s_n __maybe_unused = 0;\n", g.name(ir.Reg(i)))
			}
		}
	}
	for _, it := range slices.Sorted(maps.Keys(g.iterVar)) {
		fmt.Fprintf(&b, "\tbool open_%d = false;\n", it)
	}
	if b.String()[b.Len()-2] != '{' {
		b.WriteByte('\n')
	}
	if handler && g.probes.Cond >= 0 {
		fmt.Fprintf(&b, "\tif (!atomic64_read(&%s))\n\t\treturn;\n", g.glob[g.probes.Cond])
	}
	if handler {
		fmt.Fprintf(&b, "\tgs_fired(%d);\n", g.probe)
	}
	if handler && !g.light {
		b.WriteString("\tc = gs_enter(hit);\n\tif (unlikely(!c))\n\t\treturn;\n")
		if heavy {
			b.WriteString("\tbegan = gs_guard_in();\n")
		}
		for i, name := range siteNames {
			if g.functionAsks(name) {
				fmt.Fprintf(&b, "\thit->name[%d] = %s;\n", i, g.siteTable("char *", siteTexts(name, g.probes.Sites)))
			}
		}
		if len(g.probes.Sites) > 0 && g.probes.Sites[0].Kind.MayWait() {
			fmt.Fprintf(&b, "\tc->left = %d;\n", g.p.Limits.MaxActionInt)
		}
	}
	if strs != "" {
		b.WriteString("\tL = gs_push(c, sizeof(*L));\n")
	}
	for _, r := range g.f.Params {
		if reg := g.f.Regs[r]; reg.Type == types.String {
			fmt.Fprintf(&b, "\tgs_copy(L->%s, %d, arg_%s);\n", g.name(r), reg.Cap, g.name(r))
		}
	}
	if g.light && handler && g.usesCPU() {
		b.WriteString("\tpreempt_disable();\n")
	}
	for i, t := range blocks {
		if g.labels[fmt.Sprintf("b%d", i)] {
			fmt.Fprintf(&b, "b%d:\n", i)
			if strings.HasPrefix(t, "#line") || t == "" || t[0] == '}' {
				b.WriteString("\t;\n")
			}
		}
		b.WriteString(t)
	}
	b.WriteString(g.tail(strs != ""))
	b.WriteString("}\n")
	if g.line != "" {
		b.WriteString("#line @\n")
	}
	b.WriteByte('\n')
	return tidy(b.String())
}

// timed reports whether what the handler takes is timed. In a process that reads a file in /proc it may take what
// it wants.
func (g *gen) timed() bool {
	return len(g.probes.Sites) > 0 && !g.probes.Sites[0].Kind.MayWait() && partition.Heavy(g.p, g.f)
}

// tidy takes out jumps to the next line, and labels that nothing jumps to any more.
func tidy(c string) string {
	lines := strings.Split(c, "\n")
	label := func(i int) string {
		if i < len(lines) && strings.HasSuffix(lines[i], ":") && !strings.HasPrefix(lines[i], "\t") {
			return strings.TrimSuffix(lines[i], ":")
		}
		return ""
	}
	out := lines[:0]
	gone := map[string]int{}
	for i, l := range lines {
		if to, ok := strings.CutPrefix(l, "\tgoto "); ok && label(i+1) != "" && to == label(i+1)+";" &&
			(i == 0 || !strings.HasPrefix(lines[i-1], "\tif (")) {
			gone[label(i+1)]++
			continue
		}
		out = append(out, l)
	}
	c = strings.Join(out, "\n")
	for l := range gone {
		if !strings.Contains(c, "goto "+l+";") {
			c = strings.Replace(c, "\n"+l+":\n\t;\n", "\n", 1)
			c = strings.Replace(c, "\n"+l+":\n", "\n", 1)
		}
	}
	return c
}

// tail is where errors and ends of the function meet.
func (g *gen) tail(strs bool) string {
	var b strings.Builder
	handler := g.probe >= 0
	for i := range g.f.Blocks {
		if g.labels[fmt.Sprintf("x%d", i)] {
			fmt.Fprintf(&b, "x%d:\n\tL->err = c->err;\n\tgoto b%d;\n", i, i)
		}
	}
	if g.light {
		if g.labels["out"] {
			b.WriteString("out:\n")
		}
		if g.usesCPU() {
			b.WriteString("\tpreempt_enable();\n")
		} else if g.labels["out"] {
			b.WriteString("\t;\n")
		}
		return b.String()
	}
	if g.labels["fail"] {
		b.WriteString("fail:\n")
		if handler {
			fmt.Fprintf(&b, "\tgs_report(c, &c->err, %d);\n", g.probe)
		} else {
			b.WriteString("\trc = GS_ERROR;\n")
			if g.labels["end"] {
				b.WriteString("\tgoto out;\n")
				g.label("out")
			}
		}
	}
	if g.labels["end"] {
		b.WriteString("end:\n\trc = GS_END;\n")
	}
	if g.labels["out"] {
		b.WriteString("out:\n")
	}
	for _, it := range slices.Sorted(maps.Keys(g.iterVar)) {
		fmt.Fprintf(&b, "\tgs_iter_close(&%s, open_%d);\n", g.iterVar[it], it)
	}
	if handler {
		if g.timed() {
			fmt.Fprintf(&b, "\tgs_guard_out(c, began, %d);\n", g.probe)
		}
		b.WriteString("\tgs_leave(c);\n")
	} else {
		if strs {
			b.WriteString("\tgs_pop(c, L);\n")
		}
		b.WriteString("\treturn rc;\n")
	}
	return b.String()
}

// wordsRead are the words that occur in the texts other than as what a statement sets: in one pass, since a function
// of many numbers with a fraction has thousands of variables and megabytes of text.
func wordsRead(blocks []string) map[string]bool {
	out := map[string]bool{}
	for _, t := range blocks {
		for from := 0; from < len(t); {
			to := from
			for to < len(t) && isWord(t[to]) {
				to++
			}
			if to == from {
				from++
				continue
			}
			set := strings.HasPrefix(t[to:], " = ") && (from == 1 || from > 1 && t[from-2:from] == "\n\t")
			if !set {
				out[t[from:to]] = true
			}
			from = to
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (g *gen) usesCPU() bool {
	for _, b := range g.f.Blocks {
		for i := range b.Instrs {
			if in := &b.Instrs[i]; in.Op == ir.OpSAdd || in.Op == ir.OpIntr && intrinsics[in.Name].cpu {
				return true
			}
		}
	}
	return false
}
