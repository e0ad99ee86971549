package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// gen is the state of writing one function or handler.
type gen struct {
	*unit
	*fn
	b       strings.Builder
	probes  *ir.Probe // of handlers
	light   bool      // a handler that needs no context
	pending bool      // the text of an error is asked for
	labels  map[string]bool
	reads   []int // by register
	writes  []int
	printed []bool // registers that are only arguments of prints
	changes bool   // the function may change memory of the program or the kernel
	// fromKernel: the text of a Quoted lies in the kernel's memory
	fromKernel map[ir.Reg]bool
	lazy       map[ir.Reg]*wire.Arg // String registers whose text the host makes of this
	snapOf     map[ir.Reg]string    // the snapshot of a String register that is one
	iterVar    map[int]string
	vars       map[string]string // further local variables: name to type
	line       string
}

// function writes the C of f.
func (u *unit) function(f *fn) string {
	g := &gen{unit: u, fn: f, labels: map[string]bool{}, lazy: map[ir.Reg]*wire.Arg{}, iterVar: map[int]string{},
		vars: map[string]string{}}
	if f.probe >= 0 {
		g.probes = u.p.Probes[f.probe]
	}
	g.look()
	blocks := make([]string, len(f.f.Blocks))
	for _, i := range g.order() {
		b := f.f.Blocks[i]
		g.b.Reset()
		for j := range b.Instrs {
			g.at(b.Instrs[j].Pos)
			g.instr(&b.Instrs[j])
		}
		g.at(b.Term.Pos)
		g.term(&b.Term)
		blocks[i] = g.b.String()
	}
	return g.assemble(blocks)
}

// order gives the blocks that control can get to, each behind those without which control does not get there: what a
// text is made of is known before the text is printed.
func (g *gen) order() []ir.BlockID {
	var after []ir.BlockID
	seen := make([]bool, len(g.f.Blocks))
	var visit func(b ir.BlockID)
	visit = func(b ir.BlockID) {
		seen[b] = true
		g.f.Succs(b, func(to ir.BlockID, _ bool) {
			if !seen[to] {
				visit(to)
			}
		})
		after = append(after, b)
	}
	visit(0)
	slices.Reverse(after)
	return after
}

// look collects what is to be known before writing.
func (g *gen) look() {
	g.reads, g.writes = make([]int, len(g.f.Regs)), make([]int, len(g.f.Regs))
	g.printed = make([]bool, len(g.f.Regs))
	for i := range g.printed {
		g.printed[i] = true
	}
	g.light = g.probe >= 0
	g.fromKernel = map[ir.Reg]bool{}
	use := func(vs ...ir.Val) {
		for _, v := range vs {
			if v.Kind == ir.ValReg {
				g.reads[v.Reg]++
				g.printed[v.Reg] = false
			}
		}
	}
	for _, b := range g.f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			if in.Op == ir.OpPrint {
				for _, v := range in.Args {
					if v.Kind == ir.ValReg {
						g.reads[v.Reg]++
					}
				}
			} else {
				use(in.Args...)
			}
			if in.Dst != ir.NoReg {
				g.writes[in.Dst]++
			}
			if in.Op == ir.OpErrMsg || in.Op == ir.OpReport {
				g.pending = true
			}
			g.light = g.light && g.isLight(in)
			g.changes = g.changes || in.Op == ir.OpStore || in.Op == ir.OpEmbed || in.Op == ir.OpCall
		}
		use(b.Term.Cond)
		use(b.Term.Args...)
		g.light = g.light && b.Term.Kind != ir.TermFail
	}
	for _, r := range g.f.Params {
		g.printed[r] = false
	}
	if g.defers != nil {
		g.light = false
		for _, v := range g.defers.Values {
			g.reads[v.Reg]++
			if v.Fault != ir.NoReg {
				g.reads[v.Fault]++
			}
		}
	}
}

// isLight reports whether in can run without a context: it cannot fail, takes no lock and has no strings.
func (g *gen) isLight(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpMov, ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpMod, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr,
		ir.OpSar, ir.OpNeg, ir.OpNot, ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt, ir.OpReg,
		ir.OpTLS, ir.OpBias, ir.OpTraceArg, ir.OpGAdd, ir.OpSetReg:
		return in.Dst == ir.NoReg || g.f.Regs[in.Dst].Type == types.Long
	case ir.OpGGet, ir.OpGSet:
		return g.p.Globals[in.Glob].Type == types.Long
	case ir.OpSAdd:
		return !g.p.Globals[in.Glob].IsArray()
	case ir.OpSite:
		return in.Name == "id" || in.Name == "pc"
	case ir.OpIntr:
		return intrinsics[in.Name].light
	}
	return false
}

func (g *gen) emit(format string, args ...any) {
	g.b.WriteByte('\t')
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

// at writes a #line when the script's line changes.
func (g *gen) at(pos source.Pos) {
	if !pos.IsValid() || g.p.Files == nil {
		return
	}
	p := g.p.Files.Position(pos)
	if p.Line <= 0 {
		return
	}
	if l := fmt.Sprintf("#line %d %s\n", p.Line, text(p.File.Name)); l != g.line {
		g.line = l
		g.b.WriteString(l)
	}
}

// name gives the C variable of a register.
func (g *gen) name(r ir.Reg) string {
	n := g.f.Regs[r].Name
	if n = clean(n); n == "" || g.f.Regs[r].Name == "" {
		n = "t"
	}
	return fmt.Sprintf("%s_%d", n, r)
}

// long gives a Long operand.
func (g *gen) long(v ir.Val) string {
	if v.Kind == ir.ValInt {
		return long(v.Int)
	}
	return g.name(v.Reg)
}

// str gives a String operand.
func (g *gen) str(v ir.Val) string {
	if v.Kind == ir.ValStr {
		return text(cutNUL(v.Str))
	}
	return "L->" + g.name(v.Reg)
}

func cutNUL(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

func (g *gen) isString(v ir.Val) bool {
	return v.Kind == ir.ValStr || v.Kind == ir.ValReg && g.f.Regs[v.Reg].Type == types.String
}

// capOf gives the most bytes of a String operand.
func (g *gen) capOf(v ir.Val) int {
	if v.Kind == ir.ValStr {
		return len(v.Str)
	}
	return g.f.Regs[v.Reg].Cap
}

// dst gives a String register as "buffer, cap", or a place where nothing is kept.
func (g *gen) dst(r ir.Reg) string {
	if r == ir.NoReg {
		return "c->tmp, 0"
	}
	return fmt.Sprintf("L->%s, %d", g.name(r), g.f.Regs[r].Cap)
}

// ref gives the address of a Long register, or of one that nobody reads.
func (g *gen) ref(r ir.Reg) string {
	if r == ir.NoReg {
		g.vars["unread"] = "s64"
		return "&unread"
	}
	return "&" + g.name(r)
}

// label marks a label as used.
func (g *gen) label(l string) string {
	g.labels[l] = true
	return l
}

func (g *gen) block(b ir.BlockID) string { return g.label(fmt.Sprintf("b%d", b)) }

// onErr is the label where an error goes.
func (g *gen) onErr(b ir.BlockID) string {
	switch {
	case b == ir.NoBlock:
		return g.label("fail")
	case g.pending:
		g.block(b)
		return g.label(fmt.Sprintf("x%d", b))
	}
	return g.block(b)
}

// end is the label that ends the handler, without an error, from wherever this is.
func (g *gen) end() string {
	if g.probe >= 0 {
		return g.label("out")
	}
	return g.label("end")
}

// or writes a call that may fail with GS_ERROR.
func (g *gen) or(in *ir.Instr, format string, args ...any) {
	g.emit("if (unlikely(%s))\n\t\tgoto %s;", fmt.Sprintf(format, args...), g.onErr(in.OnErr))
}

// busy writes a call that fails when a lock could not be had: the hit is skipped, which is counted.
func (g *gen) busy(format string, args ...any) {
	g.emit("if (unlikely(%s))\n\t\tgoto %s;", fmt.Sprintf(format, args...), g.end())
}

// full writes a call that may find the map full, or its lock taken.
func (g *gen) full(in *ir.Instr, format string, args ...any) {
	g.vars["rc"] = "int"
	g.emit("rc = %s;", fmt.Sprintf(format, args...))
	g.emit("if (unlikely(rc)) {")
	g.emit("\tif (rc == GS_BUSY)\n\t\t\tgoto %s;", g.end())
	g.emit("\tgs_raise(c, %d, GS_ERR_MAPFULL, %d, %d);", in.Pos, in.Glob, g.declaredSize(in.Glob))
	g.emit("\tgoto %s;", g.onErr(in.OnErr))
	g.emit("}")
}

// declaredSize is the size of an array for messages, 0 where the script gives none.
func (u *unit) declaredSize(glob int) int {
	if n := u.p.Globals[glob].Size; n != u.p.Limits.MaxEntries {
		return n
	}
	return 0
}

func (u *unit) signature(f *fn) string {
	g := &gen{unit: u, fn: f}
	s := "static int " + f.name + "(struct gs_ctx *c __maybe_unused, struct gs_hit *hit __maybe_unused"
	switch f.f.Result {
	case types.Long:
		s += ", s64 *result __maybe_unused"
	case types.String:
		s += ", char *result __maybe_unused, u32 room __maybe_unused"
	}
	for _, r := range f.f.Params {
		if f.f.Regs[r].Type == types.String {
			s += ", const char *arg_" + g.name(r)
		} else {
			s += ", s64 " + g.name(r) + " __maybe_unused"
		}
	}
	return s + ")"
}

// term writes the end of a block.
func (g *gen) term(t *ir.Term) {
	switch t.Kind {
	case ir.TermJump:
		g.emit("goto %s;", g.block(t.Then))
	case ir.TermBranch:
		if t.Cond.Kind == ir.ValInt {
			to := t.Else
			if t.Cond.Int != 0 {
				to = t.Then
			}
			g.emit("goto %s;", g.block(to))
			return
		}
		g.emit("if (%s)\n\t\tgoto %s;", g.long(t.Cond), g.block(t.Then))
		g.emit("goto %s;", g.block(t.Else))
	case ir.TermReturn:
		switch g.f.Result {
		case types.Long:
			g.emit("*result = %s;", g.long(t.Cond))
		case types.String:
			g.emit("if (result)\n\t\tgs_copy(result, min_t(u32, room, %d), %s);", g.f.ResultCap, g.str(t.Cond))
		}
		g.emit("rc = GS_OK;")
		g.emit("goto %s;", g.label("out"))
	case ir.TermEnd:
		if g.replies() {
			g.emit("hit->value->done = true;")
		}
		if g.defers != nil {
			g.deferred()
		}
		g.emit("goto %s;", g.label("out"))
	case ir.TermFail:
		g.raise(t)
		g.emit("goto %s;", g.onErr(t.OnErr))
	case ir.TermSkip:
		if g.defers == nil || t.Cause != ir.SkipStopping { // the kernel's part found nothing to do
			g.emit("gs_count(%s);", causes[t.Cause])
		}
		g.emit("goto %s;", g.label("out"))
	}
}

var causes = [ir.NumCauses]string{"GS_SKIP_LOCK", "GS_SKIP_SCRATCH", "GS_SKIP_NOENTRY", "GS_SKIP_STOPPING",
	"GS_LOST_RING", "GS_LOST_RECURSED", "GS_SKIP_DEAD", "GS_LOST_EVICTED", "GS_LOST_ACTIVE", "GS_LOST_NESTED",
	"GS_LOST_UNWOUND"}

func (g *gen) raise(t *ir.Term) {
	switch len(t.Args) {
	case 0:
		g.emit("gs_raise(c, %d, %d, 0, 0);", t.Pos, t.Code)
	case 1:
		if g.isString(t.Args[0]) {
			g.emit("gs_throw(c, %d, %d, %s);", t.Pos, t.Code, g.str(t.Args[0]))
			return
		}
		size := 0
		if n := t.Args[0]; t.Code == ir.ErrMapFull && n.Kind == ir.ValInt && n.Int >= 0 &&
			n.Int < int64(len(g.p.Globals)) {
			size = g.declaredSize(int(n.Int))
		}
		g.emit("gs_raise(c, %d, %d, %s, %d);", t.Pos, t.Code, g.long(t.Args[0]), size)
	default:
		g.emit("gs_raise(c, %d, %d, %s, %s);", t.Pos, t.Code, g.long(t.Args[0]), g.long(t.Args[1]))
	}
}

// isReturn tells of each site whether results can be asked for there.
func isReturn(sites []*probe.Site) []string {
	var out []string
	for _, s := range sites {
		out = append(out, fmt.Sprint(s.IsReturn()))
	}
	return out
}
