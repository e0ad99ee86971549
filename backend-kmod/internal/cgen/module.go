package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// module writes the whole file: limits, globals, functions, handlers, sites.
func (u *unit) module(out *Unit, handlers []*fn) {
	l := &u.p.Limits
	var body strings.Builder
	levels := 1
	for _, h := range handlers {
		for _, s := range u.p.Probes[h.probe].Sites {
			if !s.Kind.MayWait() && !s.Kind.InUser() {
				levels = 3
			}
		}
	}
	frames, deepest, keys := 0, 0, 8
	for _, f := range u.order {
		if f.probe >= 0 {
			frames = max(frames, f.frame)
		} else {
			deepest = max(deepest, f.frame)
		}
	}
	nest := u.p.Nesting()
	for i, g := range u.p.Globals {
		lay := layoutOf(g)
		lay.Absent = !u.used[i]
		keys = max(keys, lay.KeySize)
		out.Globals = append(out.Globals, lay)
	}
	stack := frames + nest*deepest + u.embeds.frame
	site := -1
	if u.usesEmbedded() {
		site = u.embedSite()
	}
	u.printf("// SPDX-License-Identifier: (GPL-2.0 OR MIT)\n// Made by gostap from a script.\n\n")
	for _, d := range []struct {
		name string
		v    any
	}{
		{"MAXSTR", l.MaxString}, {"LOCKS", u.p.Locks}, {"TRIES", l.MaxTryLock}, {"DELAY", l.TryLockDelay},
		{"MAXACTION", fmt.Sprintf("%dLL", l.MaxAction)}, {"MAXNESTING", nest}, {"MAXERRORS", l.MaxErrors},
		{"LEVELS", levels}, {"SPARES", u.spares(handlers)},
		{"STACK", stack}, {"KEYS", keys},
		{"PROBES", max(len(u.p.Probes), 1)}, {"OUT", round8(u.maxOut)}, {"AGG", round8(u.maxAgg)},
	} {
		u.printf("#define GS_%s %v\n", d.name, d.v)
	}
	if family(handlers, u.p.Probes) {
		u.printf("#define GS_FAMILY 1\n")
	}
	if u.snaps > 0 {
		u.printf("#define GS_SNAPS %d\n", u.snaps)
	}
	if u.keeps {
		u.printf("#define GS_KEEP %d\n", l.MaxBacktrace)
	}
	u.printf("\n")
	for _, name := range []string{"iter", "scalar", "format", "output", "task", "fired"} {
		u.printf("#include \"gs_%s.h\"\n", name)
	}
	if u.regexes {
		u.printf("#include \"gs_match.h\"\n")
	}
	if u.guarded {
		time, permille := l.Overload()
		u.printf("#define GS_OVERLOAD_TIME %dULL\n#define GS_OVERLOAD_PERMILLE %dULL\n#include \"gs_guard.h\"\n", time,
			permille)
	}
	if u.stacks {
		u.printf("#include \"gs_stack.h\"\n")
	}
	if u.walks && !u.o.All {
		m := u.p.On()
		u.printf("#define GS_SIGFRAME_IP %d\n#define GS_SIGFRAME_SP %d\n#define GS_SIGFRAME_FP %d\n", m.Sigframe[m.IP],
			m.Sigframe[m.SP], m.Sigframe[m.FP])
		u.printf("#include \"gs_walk.h\"\n")
	}
	if u.snaps > 0 {
		u.printf("#include \"gs_snap.h\"\n")
	}
	if u.recalls {
		u.printf("#include \"gs_call.h\"\n")
	}
	if site >= 0 {
		u.printf("#define GS_EMBED_SITE %d\n#include \"gs_embed.h\"\n", site)
	}
	u.printf("\n")
	u.preludes()
	u.globals(out)
	u.printf("%s", u.fmts.String())
	u.printf("%s", u.embeds.text.String())
	for _, f := range u.order {
		if f.probe < 0 {
			u.printf("%s;\n", u.signature(f))
		}
	}
	u.printf("\n")
	for _, f := range u.order {
		body.WriteString(f.text)
	}
	u.printf("%s", body.String())
	u.memory(out)
	if !u.o.All {
		u.calls(out, handlers)
		u.sites(out, handlers)
	}
	ctx := levels * (stack + u.maxOut + 4096 + keys + 2*l.MaxString + u.snaps*snapBytes)
	out.Bytes += ctx
}

// family reports whether a handler is for the target and what it forks.
func family(handlers []*fn, probes []*ir.Probe) bool {
	for _, h := range handlers {
		for _, s := range probes[h.probe].Sites {
			if s.Program.Target {
				return true
			}
		}
	}
	return false
}

func (u *unit) printf(format string, args ...any) {
	fmt.Fprintf(&u.b, format, args...)
}

// globals writes the variables and the table by which the host finds them.
func (u *unit) globals(out *Unit) {
	n := 0
	var table strings.Builder
	for i, g := range u.p.Globals {
		if !u.used[i] {
			continue
		}
		lay := &out.Globals[i]
		lay.Index = n
		n++
		c := u.glob[i]
		kind, ref := "GS_G_LONG", "&"+c
		need := ""
		if g.Type == types.Stats {
			need = u.needs(g, c, lay)
		}
		switch {
		case g.IsArray():
			kind = "GS_G_MAP"
			u.printf("static const struct gs_col %s_cols[] = {", c)
			for j, k := range g.Keys {
				u.printf(" { %d, %d, %v },", lay.Off[j], lay.Size[j], k.Type == types.String)
			}
			u.printf(" };\nstatic struct gs_map %s = {\n\t.cols = %s_cols, .ncols = %d, .ksize = %d, .vsize = %d, "+
				".size = %d,", c, c, len(g.Keys), lay.KeySize, lay.ValueSize, g.Size)
			if g.Wrap {
				u.printf(" .wrap = true,")
			}
			if need != "" {
				u.printf(" .need = &%s,", need)
			}
			u.printf("\n};\n")
			out.Bytes += g.Size * (16 + lay.KeySize + lay.ValueSize + 4)
		case g.Type == types.Stats:
			kind = "GS_G_STAT"
			u.printf("static struct gs_pcpu %s = { .need = &%s };\n", c, need)
			out.Bytes += lay.ValueSize
		case g.Type == types.String:
			kind = "GS_G_TEXT"
			u.printf("static char %s_text[%d] = %s;\nstatic struct gs_scalar %s = { .cap = %d, .s = %s_text };\n", c,
				g.Cap+1, text(g.InitStr), c, g.Cap, c)
		default:
			u.printf("static atomic64_t %s = ATOMIC64_INIT(%s);\n", c, long(g.InitInt))
		}
		fmt.Fprintf(&table, "\t{ %s, %s },\n", kind, ref)
	}
	for _, it := range u.iters {
		u.printf("static struct gs_iter %s = { .map = &%s };\n", it.name, it.glob)
	}
	u.printf("\n")
	u.tableOfGlobals(n, table.String())
}

// tableOfGlobals is for the control file.
func (u *unit) tableOfGlobals(n int, table string) {
	if u.o.All {
		u.printf("#include \"gs_access.h\"\n\n")
	} else {
		u.printf("#define GS_NGLOBS %d\n#define GS_NCALLS %d\n", n, u.ncalls)
		u.fileTable()
		u.printf("#include \"gs_control.h\"\n\n")
	}
	u.printf("static struct gs_glob gs_globs[] = {\n%s\t{ GS_G_LONG, NULL },\n};\n\n", table)
}

func (u *unit) fileTable() {
	seen := map[string]bool{}
	n := 0
	for _, pr := range u.p.Probes {
		for _, s := range pr.Sites {
			for _, path := range []string{s.Program.Path, s.Program.Exe} {
				if !s.Kind.OnHost() && path != "" && !seen[path] {
					seen[path] = true
					n++
				}
			}
		}
	}
	u.printf("#define GS_NFILES %d\n", n)
}

func (u *unit) needs(g *ir.Global, c string, lay *Layout) string {
	if len(g.Stat.Hists) > 0 {
		u.printf("static const struct gs_hist %s_hists[] = {\n", c)
		for _, h := range g.Stat.Hists {
			u.printf("\t{ .linear = %v, .low = %s, .high = %s, .width = %s, .buckets = %d },\n", h.Linear, long(h.Low),
				long(h.High), long(h.Width), h.Buckets())
		}
		u.printf("};\n")
	}
	u.printf("static const struct gs_needs %s_needs = { .variance = %v, .nhists = %d, .words = %d", c, g.Stat.Variance,
		len(g.Stat.Hists), lay.HistWords)
	if len(g.Stat.Hists) > 0 {
		u.printf(", .hists = %s_hists", c)
	}
	u.printf(" };\n")
	return c + "_needs"
}

// memory writes what allocates and frees arrays, aggregates and copies for loops.
func (u *unit) memory(out *Unit) {
	var init, free strings.Builder
	add := func(kind, name string) {
		fmt.Fprintf(&init, "\tif (!err)\n\t\terr = gs_%s_init(&%s);\n", kind, name)
		fmt.Fprintf(&free, "\tgs_%s_free(&%s);\n", kind, name)
	}
	for i, g := range u.p.Globals {
		switch {
		case !u.used[i]:
		case g.IsArray():
			add("map", u.glob[i])
		case g.Type == types.Stats:
			add("pcpu", u.glob[i])
		}
	}
	for _, it := range u.iters {
		add("iter", it.name)
	}
	for i, g := range u.p.Globals {
		for _, it := range u.iters {
			if it.glob == u.glob[i] {
				out.Bytes += g.Size * (out.Globals[i].KeySize + out.Globals[i].ValueSize + 4)
			}
		}
	}
	if u.keeps {
		init.WriteString("\tif (!err)\n\t\terr = gs_kept_init();\n")
		free.WriteString("\tgs_kept_free();\n")
		out.Bytes += backend.MaxStacks * (8 + 8 + backend.KeptHead + 8*u.p.Limits.MaxBacktrace)
		out.Keeps = u.p.Limits.MaxBacktrace
	}
	if out.Walks = u.walks; u.walks {
		free.WriteString("\tgs_walk_free();\n")
	}
	u.printf("static int gs_memory_init(void)\n{\n\tint err = 0;\n\n%s\treturn err;\n}\n\n", init.String())
	u.printf("static void gs_memory_free(void)\n{\n%s}\n\n", free.String())
}

// spareContexts are those that handlers wait with for memory that is not there yet.
const spareContexts = 16

// spares is how many a program needs: none if nothing in it can wait.
func (u *unit) spares(handlers []*fn) int {
	waits := false
	for _, h := range handlers {
		for _, s := range u.p.Probes[h.probe].Sites {
			waits = waits || s.Kind.InUser()
		}
	}
	if !waits || u.o.All {
		return 0
	}
	for _, f := range u.order {
		if f.looks {
			return spareContexts
		}
	}
	return 0
}

// touchesMemory reports whether an instruction reads or writes memory of the process.
func (u *unit) touchesMemory(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpLoad, ir.OpStore:
		return !in.Kernel
	case ir.OpEmbed:
		return true
	case ir.OpIntr:
		return in.Builtin().Reads == caps.ReadUser
	case ir.OpPrint, ir.OpSprint:
		for _, p := range u.p.Formats[in.N].Pieces {
			if p.Conv == 'm' || p.Conv == 'M' {
				return true
			}
		}
	}
	return false
}
