package ir

import (
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

func (ps *textParser) reg() Reg { return Reg(ps.numbered("r")) }

func (ps *textParser) block() BlockID { return BlockID(ps.numbered("b")) }

// body reads registers and blocks to the closing brace.
func (ps *textParser) body(f *Func) {
	regs := map[Reg]RegInfo{}
	var cur *Block
	ended := true
	for {
		if !ps.next() {
			ps.fail("} is missing")
		}
		if ps.accept("}") {
			break
		}
		t := ps.peek()
		if t.kind == 'w' && len(ps.toks) == 2 && ps.toks[1].kind == ':' {
			if !ended {
				ps.fail("the block before does not end")
			}
			if b := ps.block(); int(b) != len(f.Blocks) {
				ps.fail("expected b%d, found b%d", len(f.Blocks), b)
			}
			ps.want(":")
			cur, ended = &Block{}, false
			f.Blocks = append(f.Blocks, cur)
			continue
		}
		if cur == nil {
			ps.regs(regs)
			ps.done()
			continue
		}
		if ended {
			ps.fail("the block has ended")
		}
		if term, ok := ps.term(); ok {
			cur.Term, ended = term, true
		} else {
			cur.Instrs = append(cur.Instrs, ps.instr())
		}
		ps.done()
	}
	ps.done()
	if !ended {
		ps.fail("the last block does not end")
	}
	f.Regs = make([]RegInfo, len(regs))
	for r, info := range regs {
		if int(r) >= len(f.Regs) {
			ps.fail("register r%d is declared but one below it is not", r)
		}
		f.Regs[r] = info
	}
}

func (ps *textParser) regs(regs map[Reg]RegInfo) {
	t, w := types.Long, ps.word()
	switch w {
	case "long":
	case "string":
		t = types.String
	default:
		ps.fail("expected long, string or a block, found %q", w)
	}
	for {
		r := ps.reg()
		if _, dup := regs[r]; dup {
			ps.fail("register r%d is declared twice", r)
		}
		info := RegInfo{Type: t}
		if t == types.String {
			info.Cap = ps.small()
		}
		if k := ps.peek().kind; k == 'w' || k == 's' {
			info.Name = ps.name()
		}
		regs[r] = info
		if !ps.accept(",") {
			return
		}
	}
}

func (ps *textParser) val() Val {
	switch t := ps.take(); {
	case t.kind == 'i':
		return I(t.n)
	case t.kind == 's':
		return S(t.text)
	case t.kind == '*':
		return Star()
	case t.kind == 'w':
		if n, ok := number(t.text, "r"); ok {
			return R(Reg(n))
		}
		fallthrough
	default:
		ps.fail("expected a value, found %q", t.text)
	}
	return Val{}
}

// vals reads values up to the closing token.
func (ps *textParser) vals(end string) []Val {
	var vs []Val
	for !ps.accept(end) {
		if len(vs) > 0 {
			ps.want(",")
		}
		vs = append(vs, ps.val())
	}
	return vs
}

// more reads the values that follow, each behind a comma.
func (ps *textParser) more(vs []Val) []Val {
	for ps.accept(",") {
		vs = append(vs, ps.val())
	}
	return vs
}

func (ps *textParser) call() []Val {
	ps.want("(")
	return ps.vals(")")
}

func (ps *textParser) glob() int {
	ps.want("@")
	n := ps.name()
	g, ok := ps.globs[n]
	if !ok {
		ps.fail("no global is called %s", n)
	}
	return g
}

func (ps *textParser) elem() (int, []Val) {
	g := ps.glob()
	if ps.accept("[") {
		return g, ps.vals("]")
	}
	return g, nil
}

func (ps *textParser) iter() int { return ps.numbered("i") }

func (ps *textParser) onErr() BlockID {
	if ps.accept("!") {
		return ps.block()
	}
	return NoBlock
}

func (ps *textParser) term() (Term, bool) {
	t := Term{OnErr: NoBlock, Pos: ps.pos}
	switch {
	case ps.accept("jump"):
		t.Kind, t.Then = TermJump, ps.block()
	case ps.accept("branch"):
		t.Kind, t.Cond = TermBranch, ps.val()
		ps.want(",")
		t.Then = ps.block()
		ps.want(",")
		t.Else = ps.block()
	case ps.accept("return"):
		t.Kind = TermReturn
		if len(ps.toks) > 0 {
			t.Cond = ps.val()
		}
	case ps.accept("end"):
		t.Kind = TermEnd
	case ps.accept("fail"):
		t.Kind = TermFail
		w := ps.word()
		for t.Code = 0; t.Code.String() != w; t.Code++ {
			if t.Code >= NumCodes {
				ps.fail("unknown error %q", w)
			}
		}
		t.Args = ps.call()
		t.OnErr = ps.onErr()
	case ps.accept("skip"):
		t.Kind = TermSkip
		w := ps.word()
		for t.Cause = 0; t.Cause.String() != w; t.Cause++ {
			if t.Cause >= NumCauses {
				ps.fail("unknown cause %q", w)
			}
		}
	default:
		return t, false
	}
	return t, true
}

// opcode splits a word into the operation and what is written behind its name.
func opcode(w string) (Op, string) {
	if op, ok := opByName()[w]; ok {
		return op, ""
	}
	if s, ok := strings.CutPrefix(w, "sget."); ok {
		return OpSGet, s
	}
	if s, ok := strings.CutPrefix(w, "load"); ok {
		return OpLoad, s
	}
	if s, ok := strings.CutPrefix(w, "store"); ok {
		return OpStore, s
	}
	return OpNone, ""
}

func (ps *textParser) instr() Instr {
	in := Instr{Dst: NoReg, Glob: -1, OnErr: NoBlock, Pos: ps.pos}
	if len(ps.toks) > 1 && ps.toks[1].kind == '=' {
		in.Dst = ps.reg()
		ps.want("=")
	}
	w := ps.word()
	suffix := ""
	in.Op, suffix = opcode(w)
	switch in.Op {
	case OpNone:
		ps.fail("unknown operation %q", w)
	case OpReg, OpTraceArg, OpBudget, OpLock, OpUnlock:
		in.N = ps.int()
	case OpOffset:
		in.N, in.Name = ps.int(), ps.string()
	case OpSetReg, OpReply:
		in.N = ps.int()
		in.Args = ps.more(nil)
	case OpLoad, OpStore:
		suffix, in.Kernel = strings.CutSuffix(suffix, "k")
		if in.Op == OpLoad {
			suffix, in.Signed = strings.CutSuffix(suffix, "s")
		}
		n, err := strconv.ParseUint(suffix, 10, 8)
		if err != nil || suffix != strconv.FormatUint(n, 10) {
			ps.fail("unknown operation %q", w)
		}
		in.N = int64(n)
		in.Args = ps.more([]Val{ps.val()})
	case OpSite:
		in.Name = ps.name()
	case OpGGet, OpGSet, OpGAdd, OpMGet, OpMSet, OpMAdd, OpMHas, OpMDel, OpSAdd, OpMClear:
		in.Glob, in.Args = ps.elem()
		in.Args = ps.more(in.Args)
	case OpSGet:
		for in.N = 0; Stat(in.N).String() != suffix; in.N++ {
			if Stat(in.N) == StatBucket {
				ps.fail("unknown statistic %q", suffix)
			}
		}
		if Stat(in.N) == StatBucket {
			in.Iter = ps.small()
		}
		in.Glob, in.Args = ps.elem()
		in.Args = ps.more(in.Args)
	case OpIterOpen:
		in.Iter = ps.iter()
		in.Glob, in.Args = ps.elem()
		if ps.peek().kind == 's' {
			in.Name = ps.string()
		}
		limit := I(-1)
		if ps.accept("limit") {
			limit = ps.val()
		}
		in.Args = append(in.Args, limit)
	case OpIterNext, OpIterVal, OpIterKey:
		in.Iter = ps.iter()
		in.Glob = ps.glob()
		if in.Op == OpIterKey {
			in.N = int64(ps.small())
		}
	case OpMatch:
		n, err := ps.p.AddRegex(ps.string())
		if err != nil {
			ps.fail("%v", err)
		}
		in.N, in.Args = int64(n), ps.call()
	case OpPrint, OpSprint:
		f, err := parseFormat(ps.string(), allConvs)
		if err != nil {
			ps.fail("%v", err)
		}
		in.N = int64(ps.p.AddFormat(f))
		in.Args = ps.call()
	case OpPrintHist, OpSprintHist:
		in.N = int64(ps.small())
		in.Glob, in.Args = ps.elem()
		in.Args = ps.more(in.Args)
	case OpEmbed:
		in.N = int64(ps.small())
		in.Args = ps.call()
	case OpCall, OpIntr:
		in.Name = ps.name()
		in.Args = ps.call()
	default:
		if len(ps.toks) > 0 {
			in.Args = ps.more([]Val{ps.val()})
		}
	}
	if in.Op.CanFail() {
		in.OnErr = ps.onErr()
	}
	return in
}
