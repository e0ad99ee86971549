package ir

import (
	"fmt"
	"strconv"

	"github.com/gostap/gostap/compiler/types"
)

func (w *printer) body(f *Func) {
	for _, t := range []types.Type{types.Long, types.String} {
		n := 0
		for i, r := range f.Regs {
			if r.Type != t {
				continue
			}
			if n%8 == 0 {
				w.b.WriteString(map[bool]string{true: "  ", false: "\n  "}[n == 0] + t.String() + " ")
			} else {
				w.b.WriteString(", ")
			}
			n++
			w.printf("r%d", i)
			if t == types.String {
				w.printf(" %d", r.Cap)
			}
			if r.Name != "" {
				w.b.WriteString(" " + name(r.Name))
			}
		}
		if n > 0 {
			w.b.WriteByte('\n')
		}
	}
	for i, b := range f.Blocks {
		w.printf("b%d:\n", i)
		for j := range b.Instrs {
			w.b.WriteString("  ")
			w.instr(&b.Instrs[j])
			w.mark(b.Instrs[j].Pos)
			w.at(b.Instrs[j].Pos.IsValid(), func() string { return w.p.Files.Position(b.Instrs[j].Pos).String() })
		}
		w.b.WriteString("  ")
		w.term(&b.Term)
		w.mark(b.Term.Pos)
		w.at(b.Term.Pos.IsValid(), func() string { return w.p.Files.Position(b.Term.Pos).String() })
	}
}

func (w *printer) at(valid bool, pos func() string) {
	if w.pos && valid {
		w.b.WriteString("  # " + pos())
	}
	w.b.WriteByte('\n')
}

func (v Val) String() string {
	switch v.Kind {
	case ValReg:
		return "r" + strconv.Itoa(int(v.Reg))
	case ValInt:
		return strconv.FormatInt(v.Int, 10)
	case ValStr:
		return strconv.Quote(v.Str)
	case ValStar:
		return "*"
	}
	return "none"
}

func (w *printer) vals(vs []Val) {
	for i, v := range vs {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.b.WriteString(v.String())
	}
}

func (w *printer) glob(g int) string {
	if g < 0 || g >= len(w.p.Globals) {
		return fmt.Sprintf("@?%d", g)
	}
	return "@" + name(w.p.Globals[g].Name)
}

// elem writes a global with as many keys as it has, and gives the arguments behind them.
func (w *printer) elem(g int, args []Val) []Val {
	w.b.WriteString(w.glob(g))
	n := 0
	if g >= 0 && g < len(w.p.Globals) {
		n = min(len(w.p.Globals[g].Keys), len(args))
	}
	if n > 0 {
		w.b.WriteByte('[')
		w.vals(args[:n])
		w.b.WriteByte(']')
	}
	return args[n:]
}

func (w *printer) rest(args []Val) {
	for _, v := range args {
		w.b.WriteString(", " + v.String())
	}
}

func (w *printer) call(args []Val) {
	w.b.WriteByte('(')
	w.vals(args)
	w.b.WriteByte(')')
}

func (w *printer) instr(in *Instr) {
	if in.Dst >= 0 {
		w.printf("r%d = ", in.Dst)
	}
	w.b.WriteString(in.Op.String())
	switch in.Op {
	case OpReply:
		w.printf(" %d", in.N)
		w.rest(in.Args)
	case OpReg, OpTraceArg, OpBudget, OpLock, OpUnlock:
		w.printf(" %d", in.N)
	case OpSetReg:
		w.printf(" %d", in.N)
		w.rest(in.Args)
	case OpOffset:
		w.printf(" %d %q", in.N, in.Name)
	case OpLoad, OpStore:
		w.printf("%d", in.N)
		if in.Signed {
			w.b.WriteByte('s')
		}
		if in.Kernel {
			w.b.WriteByte('k')
		}
		w.b.WriteByte(' ')
		w.vals(in.Args)
	case OpSite:
		w.b.WriteString(" " + name(in.Name))
	case OpGGet, OpGSet, OpGAdd, OpMGet, OpMSet, OpMAdd, OpMHas, OpMDel, OpSAdd:
		w.b.WriteByte(' ')
		w.rest(w.elem(in.Glob, in.Args))
	case OpMClear:
		w.b.WriteString(" " + w.glob(in.Glob))
		w.rest(in.Args)
	case OpSGet:
		w.b.WriteByte('.')
		if s := Stat(in.N); s >= 0 && int(s) < len(statNames) {
			w.b.WriteString(s.String())
		} else {
			w.printf("stat?%d", in.N)
		}
		if Stat(in.N) == StatBucket {
			w.printf(" %d", in.Iter)
		}
		w.b.WriteByte(' ')
		w.rest(w.elem(in.Glob, in.Args))
	case OpIterOpen:
		w.printf(" i%d ", in.Iter)
		limit, slice := Val{}, in.Args
		if n := len(in.Args); n > 0 {
			limit, slice = in.Args[n-1], in.Args[:n-1]
		}
		rest := w.elem(in.Glob, slice)
		w.rest(rest)
		if in.Name != "" {
			w.printf(" %q", in.Name)
		}
		if limit != I(-1) {
			w.b.WriteString(" limit " + limit.String())
		}
	case OpIterNext, OpIterVal:
		w.printf(" i%d %s", in.Iter, w.glob(in.Glob))
	case OpIterKey:
		w.printf(" i%d %s %d", in.Iter, w.glob(in.Glob), in.N)
	case OpMatch:
		if in.N >= 0 && in.N < int64(len(w.p.Regexes)) {
			w.b.WriteString(" " + strconv.Quote(w.p.Regexes[in.N].Pattern))
		} else {
			w.printf(" x?%d", in.N)
		}
		w.call(in.Args)
	case OpPrint, OpSprint:
		if in.N >= 0 && in.N < int64(len(w.p.Formats)) {
			w.b.WriteString(" " + strconv.Quote(w.p.Formats[in.N].String()))
		} else {
			w.printf(" f?%d", in.N)
		}
		w.call(in.Args)
	case OpPrintHist, OpSprintHist:
		w.printf(" %d ", in.N)
		w.rest(w.elem(in.Glob, in.Args))
	case OpEmbed:
		w.printf(" %d", in.N)
		w.call(in.Args)
	case OpCall, OpIntr:
		w.b.WriteString(" " + name(in.Name))
		w.call(in.Args)
	default:
		if len(in.Args) > 0 {
			w.b.WriteByte(' ')
			w.vals(in.Args)
		}
	}
	if in.Op.CanFail() && in.OnErr != NoBlock {
		w.printf(" !b%d", in.OnErr)
	}
}

func (w *printer) term(t *Term) {
	switch t.Kind {
	case TermJump:
		w.printf("jump b%d", t.Then)
	case TermBranch:
		w.printf("branch %s, b%d, b%d", t.Cond, t.Then, t.Else)
	case TermReturn:
		w.b.WriteString("return")
		if t.Cond.Kind != ValNone {
			w.b.WriteString(" " + t.Cond.String())
		}
	case TermEnd:
		w.b.WriteString("end")
	case TermFail:
		w.b.WriteString("fail " + t.Code.String())
		w.call(t.Args)
		if t.OnErr != NoBlock {
			w.printf(" !b%d", t.OnErr)
		}
	case TermSkip:
		w.b.WriteString("skip " + t.Cause.String())
	default:
		w.printf("term?%d", t.Kind)
	}
}
