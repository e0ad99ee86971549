package opt

import (
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// FoldConstants computes what is known at compile time and puts it in place: constants and copies go
// where they are used, within blocks and what only follows one block, and through the whole
// function for registers with one definition. Names of sites are constants where all sites of a
// probe have the same; what stays the same during a hit (pid(), execname()) is asked for once.
// Branches on comparisons with zero lose the comparison. Cost: linear in the size of each
// function, a few rounds. The names of sites stay open
// in handlers that JoinProbes may make one of: NameSites writes them.
func FoldConstants(p *ir.Program) {
	for _, f := range p.Funcs {
		foldFunc(p, f, nil)
	}
	for _, pr := range p.Probes {
		sites := pr.Sites
		if joinable(pr) {
			sites = nil
		}
		foldFunc(p, pr.Handler, sites)
	}
}

func foldFunc(p *ir.Program, f *ir.Func, sites []*probe.Site) {
	for range 4 {
		spread(f)
		fo := newFolder(p, f, sites)
		fo.run()
		if !fo.changed {
			break
		}
	}
}

// spread replaces registers with one definition that is a move of a constant, or of another
// register with one definition, by what they are.
func spread(f *ir.Func) {
	defs, count := singleDefs(f)
	val := make([]ir.Val, len(f.Regs))
	for r, d := range defs {
		if d == nil || d.Op != ir.OpMov {
			continue
		}
		val[r] = moved(f, ir.Reg(r), d.Args[0], count)
	}
	replace := func(v *ir.Val) {
		for range len(f.Regs) { // chains of moves end, but a bound costs nothing
			if v.Kind != ir.ValReg || val[v.Reg].Kind == ir.ValNone {
				return
			}
			*v = val[v.Reg]
		}
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			limit := in.Op == ir.OpIterOpen && in.Args[len(in.Args)-1].Kind == ir.ValReg
			uses(in.Args, replace)
			if limit {
				fixLimit(in)
			}
		}
		termUses(&b.Term, replace)
	}
}

// moved is what "r = mov v" makes of r, ValNone if that is not simply v.
func moved(f *ir.Func, r ir.Reg, v ir.Val, count []int32) ir.Val {
	switch v.Kind {
	case ir.ValInt:
		return v
	case ir.ValStr:
		return ir.S(cut(v.Str, f.Regs[r].Cap))
	case ir.ValReg:
		if v.Reg != r && (count == nil || count[v.Reg] == 1) &&
			(f.Regs[r].Type == types.Long || f.Regs[v.Reg].Cap <= f.Regs[r].Cap) {
			return v
		}
	}
	return ir.Val{}
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// fixLimit keeps the limit of a loop that turned out to be a negative constant from meaning "none".
func fixLimit(in *ir.Instr) {
	if l := &in.Args[len(in.Args)-1]; l.Kind == ir.ValInt && l.Int < 0 {
		*l = ir.I(0)
	}
}

// known is what is known of a register: a constant, a copy of a register while that has version
// ver, or (op is OpEq or OpNe) the result of comparing that register with 0.
type known struct {
	v   ir.Val
	ver int32
	op  ir.Op
}

type undo struct {
	reg ir.Reg
	was known
	ver int32
}

// folder goes through the blocks of a function. Blocks with one way in begin with what is known
// at the end of the block before; the trail takes that back afterwards.
type folder struct {
	p       *ir.Program
	f       *ir.Func
	sites   []*probe.Site // of a handler
	vals    []known
	vers    []int32
	clock   int32
	trail   []undo
	answers []answer
	preds   []int
	changed bool
}

// answer is an intrinsic whose result is in reg while that has version ver.
type answer struct {
	name string
	reg  ir.Reg
	ver  int32
}

// steady reports whether in gives the same all through one run of a handler.
func steady(in *ir.Instr) bool { return in.Op == ir.OpIntr && in.Builtin().Repeats() }

func newFolder(p *ir.Program, f *ir.Func, sites []*probe.Site) *folder {
	return &folder{p: p, f: f, sites: sites, vals: make([]known, len(f.Regs)), vers: make([]int32, len(f.Regs)),
		preds: preds(f)}
}

func (fo *folder) run() {
	f := fo.f
	inner := make([]bool, len(f.Blocks)) // reached from its one predecessor
	for _, b := range f.Blocks {
		for _, to := range ends(&b.Term) {
			inner[to] = inner[to] || fo.preds[to] == 1 && to != 0
		}
	}
	for b := range f.Blocks {
		if !inner[b] {
			fo.block(ir.BlockID(b))
		}
	}
}

// ends are the blocks that t goes to without an error.
func ends(t *ir.Term) []ir.BlockID {
	switch t.Kind {
	case ir.TermJump:
		return []ir.BlockID{t.Then}
	case ir.TermBranch:
		return []ir.BlockID{t.Then, t.Else}
	}
	return nil
}

func (fo *folder) block(id ir.BlockID) {
	mark, answers := len(fo.trail), len(fo.answers)
	b := fo.f.Blocks[id]
	for i := range b.Instrs {
		fo.instr(&b.Instrs[i])
	}
	t := &b.Term
	termUses(t, func(v *ir.Val) { fo.see(v) })
	if t.Kind == ir.TermBranch {
		fo.branch(t)
	}
	for i, to := range ends(t) {
		if fo.preds[to] != 1 || to == 0 || to == id {
			continue
		}
		inner := len(fo.trail)
		if i == 1 && t.Cond.Kind == ir.ValReg {
			fo.learn(t.Cond.Reg, known{v: ir.I(0)})
		}
		fo.block(to)
		fo.back(inner)
	}
	fo.back(mark)
	fo.answers = fo.answers[:answers]
}

// branch takes a comparison with zero out of t's condition.
func (fo *folder) branch(t *ir.Term) {
	for range 4 {
		if t.Cond.Kind != ir.ValReg {
			return
		}
		k := fo.vals[t.Cond.Reg]
		if k.op == ir.OpNone || fo.vers[k.v.Reg] != k.ver {
			return
		}
		t.Cond = ir.R(k.v.Reg)
		if k.op == ir.OpEq {
			t.Then, t.Else = t.Else, t.Then
		}
		fo.changed = true
	}
}

func (fo *folder) note(r ir.Reg) {
	fo.trail = append(fo.trail, undo{r, fo.vals[r], fo.vers[r]})
}

// learn records what r is from now on, without its value changing.
func (fo *folder) learn(r ir.Reg, k known) {
	fo.note(r)
	fo.vals[r] = k
}

// define records that r gets a new value.
func (fo *folder) define(r ir.Reg, k known) {
	fo.note(r)
	fo.clock++
	fo.vers[r] = fo.clock
	if k.v.Kind == ir.ValReg {
		if k.v.Reg == r {
			k = known{}
		} else {
			k.ver = fo.vers[k.v.Reg]
		}
	}
	fo.vals[r] = k
}

func (fo *folder) back(mark int) {
	for len(fo.trail) > mark {
		u := fo.trail[len(fo.trail)-1]
		fo.trail = fo.trail[:len(fo.trail)-1]
		fo.vals[u.reg], fo.vers[u.reg] = u.was, u.ver
	}
}

// see replaces an operand by what is known of it.
func (fo *folder) see(v *ir.Val) {
	if v.Kind != ir.ValReg {
		return
	}
	k := fo.vals[v.Reg]
	if k.v.Kind == ir.ValNone || k.op != ir.OpNone || k.v.Kind == ir.ValReg && fo.vers[k.v.Reg] != k.ver {
		return
	}
	*v = k.v
	fo.changed = true
}

func (fo *folder) instr(in *ir.Instr) {
	limit := in.Op == ir.OpIterOpen && in.Args[len(in.Args)-1].Kind == ir.ValReg
	uses(in.Args, fo.see)
	if limit {
		fixLimit(in)
	}
	fo.simplify(in)
	if in.Dst == ir.NoReg {
		return
	}
	k := known{}
	switch in.Op {
	case ir.OpMov:
		k.v = moved(fo.f, in.Dst, in.Args[0], nil)
	case ir.OpEq, ir.OpNe:
		if in.Args[1] == ir.I(0) && in.Args[0].Kind == ir.ValReg {
			k = known{v: in.Args[0], op: in.Op}
		}
	}
	fo.define(in.Dst, k)
	if steady(in) {
		fo.answers = append(fo.answers, answer{in.Name, in.Dst, fo.vers[in.Dst]})
	}
}

// siteName gives an attribute that all sites of the handler share.
func (fo *folder) siteName(attr string) (string, bool) {
	name := ""
	for i, s := range fo.sites {
		n := ""
		switch attr {
		case "pp":
			n = s.Point
		case "ppfunc":
			n = s.Func
		case "pn":
			if n = s.Alias; n == "" {
				n = s.Point
			}
		default:
			return "", false
		}
		if i > 0 && n != name || strings.IndexByte(n, 0) >= 0 {
			return "", false
		}
		name = n
	}
	return name, len(fo.sites) > 0
}

// become makes in a move of v.
func (fo *folder) become(in *ir.Instr, v ir.Val) {
	*in = ir.Instr{Op: ir.OpMov, Dst: in.Dst, Args: []ir.Val{v}, Glob: -1, OnErr: ir.NoBlock, Pos: in.Pos, Via: in.Via}
	fo.changed = true
}

// simplify computes in if its operands are constants, or makes it simpler.
func (fo *folder) simplify(in *ir.Instr) {
	switch in.Op {
	case ir.OpNeg, ir.OpNot:
		if a := in.Args[0]; a.Kind == ir.ValInt {
			if in.Op == ir.OpNeg {
				fo.become(in, ir.I(-a.Int))
			} else {
				fo.become(in, ir.I(^a.Int))
			}
		}
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpMod, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr, ir.OpSar,
		ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt:
		fo.binary(in)
	case ir.OpCat:
		a, b := in.Args[0], in.Args[1]
		switch {
		case a.Kind == ir.ValStr && b.Kind == ir.ValStr:
			fo.become(in, ir.S(cut(a.Str+b.Str, fo.f.Regs[in.Dst].Cap)))
		case a == ir.S(""):
			fo.become(in, b)
		case b == ir.S(""):
			fo.become(in, a)
		}
	case ir.OpSCmp:
		if a, b := in.Args[0], in.Args[1]; a.Kind == ir.ValStr && b.Kind == ir.ValStr {
			fo.become(in, ir.I(int64(strings.Compare(a.Str, b.Str))))
		} else if a == b {
			fo.become(in, ir.I(0))
		}
	case ir.OpSprint:
		fo.sprint(in)
	case ir.OpSite:
		if name, ok := fo.siteName(in.Name); ok {
			fo.become(in, ir.S(cut(name, fo.f.Regs[in.Dst].Cap)))
		}
	case ir.OpIntr:
		if in.Dst != ir.NoReg && steady(in) {
			for _, a := range fo.answers {
				if a.name == in.Name && fo.vers[a.reg] == a.ver && fo.f.Regs[a.reg].Cap >= fo.f.Regs[in.Dst].Cap {
					fo.become(in, ir.R(a.reg))
					return
				}
			}
		}
		if in.Name == "strlen" && in.Dst != ir.NoReg && in.Args[0].Kind == ir.ValStr {
			fo.become(in, ir.I(int64(len(in.Args[0].Str))))
		}
	}
}

// sprint computes the text when all of it is known, and passes a string through "%s".
func (fo *folder) sprint(in *ir.Instr) {
	f := fo.p.Formats[in.N]
	if len(f.Pieces) == 1 && f.Pieces[0] == ir.Conv('s') {
		fo.become(in, in.Args[0])
		return
	}
	var args []textfmt.Val
	for _, a := range in.Args {
		if a.Kind == ir.ValReg {
			return
		}
		args = append(args, textfmt.Val{Int: a.Int, Str: a.Str})
	}
	for _, p := range f.Pieces {
		if p.Conv == 'm' || p.Conv == 'M' {
			return
		}
	}
	s := textfmt.Format(f, args)
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	fo.become(in, ir.S(cut(s, fo.f.Regs[in.Dst].Cap)))
}

var commutes = [256]bool{ir.OpAdd: true, ir.OpMul: true, ir.OpAnd: true, ir.OpOr: true, ir.OpXor: true, ir.OpEq: true,
	ir.OpNe: true}

func (fo *folder) binary(in *ir.Instr) {
	if commutes[in.Op] && in.Args[0].Kind == ir.ValInt && in.Args[1].Kind == ir.ValReg {
		in.Args[0], in.Args[1] = in.Args[1], in.Args[0]
	}
	a, b := in.Args[0], in.Args[1]
	if b.Kind == ir.ValInt {
		if a.Kind == ir.ValInt {
			if n, ok := compute(in.Op, a.Int, b.Int); ok {
				fo.become(in, ir.I(n))
			}
			return
		}
		switch n := b.Int; {
		case n == 0 && (in.Op == ir.OpAdd || in.Op == ir.OpSub || in.Op == ir.OpOr || in.Op == ir.OpXor),
			n&63 == 0 && (in.Op == ir.OpShl || in.Op == ir.OpShr || in.Op == ir.OpSar),
			n == 1 && (in.Op == ir.OpMul || in.Op == ir.OpDiv),
			n == -1 && in.Op == ir.OpAnd:
			fo.become(in, a)
		case n == 0 && (in.Op == ir.OpMul || in.Op == ir.OpAnd || in.Op == ir.OpULt), n == 1 && in.Op == ir.OpMod:
			fo.become(in, ir.I(0))
		}
		return
	}
	if a != b {
		return
	}
	switch in.Op {
	case ir.OpSub, ir.OpXor, ir.OpNe, ir.OpLt, ir.OpGt, ir.OpULt:
		fo.become(in, ir.I(0))
	case ir.OpEq, ir.OpLe, ir.OpGe:
		fo.become(in, ir.I(1))
	case ir.OpAnd, ir.OpOr:
		fo.become(in, a)
	}
}

// compute gives a op b; false for a division by zero, which the program checks for before.
func compute(op ir.Op, a, b int64) (int64, bool) {
	truth := func(t bool) (int64, bool) {
		if t {
			return 1, true
		}
		return 0, true
	}
	s := uint64(b) & 63
	switch op {
	case ir.OpAdd:
		return a + b, true
	case ir.OpSub:
		return a - b, true
	case ir.OpMul:
		return a * b, true
	case ir.OpDiv:
		if b == 0 {
			return 0, false
		}
		return a / b, true
	case ir.OpMod:
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case ir.OpAnd:
		return a & b, true
	case ir.OpOr:
		return a | b, true
	case ir.OpXor:
		return a ^ b, true
	case ir.OpShl:
		return a << s, true
	case ir.OpShr:
		return int64(uint64(a) >> s), true
	case ir.OpSar:
		return a >> s, true
	case ir.OpEq:
		return truth(a == b)
	case ir.OpNe:
		return truth(a != b)
	case ir.OpLt:
		return truth(a < b)
	case ir.OpLe:
		return truth(a <= b)
	case ir.OpGt:
		return truth(a > b)
	case ir.OpGe:
		return truth(a >= b)
	case ir.OpULt:
		return truth(uint64(a) < uint64(b))
	}
	return 0, false
}
