package interp

import (
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// cut is s with at most n bytes.
func cut(s string, n int32) string {
	if len(s) > int(n) {
		return s[:n]
	}
	return s
}

// exec runs a handler to its end. Its own errors are reported here; the error it returns is the store's.
func (m *Machine) exec(h *fn, args []Val) (Result, error) {
	m.push(h, nil, 0)
	for i, v := range args {
		if p := h.params[i]; p.str {
			m.strs[p.slot] = cut(v.Str, p.cap)
		} else {
			m.ints[p.slot] = v.Int
		}
	}
	fr := &m.frames[0]
	code := h.code
	ints, strs := m.ints, m.strs
	pc := int32(0)
	// window makes ints and strs those of the top activation, after a call, a return or an error.
	window := func() {
		fr = &m.frames[len(m.frames)-1]
		code = fr.f.code
		ints, strs = m.ints[fr.ints:fr.ints+fr.f.intSlots()], m.strs[fr.strs:fr.strs+fr.f.strSlots()]
	}
	window()
	for {
		in := &code[pc]
		pc++
		var err error
		switch in.op {
		case ir.OpMov:
			if in.dstStr {
				strs[in.dst] = cut(strs[in.a], in.cap)
			} else {
				ints[in.dst] = ints[in.a]
			}
		case ir.OpAdd:
			ints[in.dst] = ints[in.a] + ints[in.b]
		case ir.OpSub:
			ints[in.dst] = ints[in.a] - ints[in.b]
		case ir.OpMul:
			ints[in.dst] = ints[in.a] * ints[in.b]
		case ir.OpDiv:
			ints[in.dst] = div(ints[in.a], ints[in.b])
		case ir.OpMod:
			ints[in.dst] = mod(ints[in.a], ints[in.b])
		case ir.OpAnd:
			ints[in.dst] = ints[in.a] & ints[in.b]
		case ir.OpOr:
			ints[in.dst] = ints[in.a] | ints[in.b]
		case ir.OpXor:
			ints[in.dst] = ints[in.a] ^ ints[in.b]
		case ir.OpShl:
			ints[in.dst] = ints[in.a] << (uint64(ints[in.b]) & 63)
		case ir.OpShr:
			ints[in.dst] = int64(uint64(ints[in.a]) >> (uint64(ints[in.b]) & 63))
		case ir.OpSar:
			ints[in.dst] = ints[in.a] >> (uint64(ints[in.b]) & 63)
		case ir.OpNeg:
			ints[in.dst] = -ints[in.a]
		case ir.OpNot:
			ints[in.dst] = ^ints[in.a]
		case ir.OpEq:
			ints[in.dst] = truth(ints[in.a] == ints[in.b])
		case ir.OpNe:
			ints[in.dst] = truth(ints[in.a] != ints[in.b])
		case ir.OpLt:
			ints[in.dst] = truth(ints[in.a] < ints[in.b])
		case ir.OpLe:
			ints[in.dst] = truth(ints[in.a] <= ints[in.b])
		case ir.OpGt:
			ints[in.dst] = truth(ints[in.a] > ints[in.b])
		case ir.OpGe:
			ints[in.dst] = truth(ints[in.a] >= ints[in.b])
		case ir.OpULt:
			ints[in.dst] = truth(uint64(ints[in.a]) < uint64(ints[in.b]))
		case ir.OpCat:
			strs[in.dst] = concat(strs[in.a], strs[in.b], in.cap)
		case ir.OpSCmp:
			ints[in.dst] = int64(strings.Compare(strs[in.a], strs[in.b]))
		case ir.OpMatch:
			re := m.p.Regexes[in.n]
			m.last = lastMatch{}
			if ints[in.dst] = truth(re.Match(strs[in.a])); ints[in.dst] != 0 {
				m.last = lastMatch{re: re, text: strs[in.a]}
			}

		case ir.OpReg, ir.OpTLS, ir.OpBias, ir.OpLoad, ir.OpSite, ir.OpTraceArg:
			var v Val
			v, err = m.probed(in, ints)
			if err == nil {
				m.set(in, v, ints, strs)
			}

		case ir.OpValue, ir.OpReply:
			f, ok := m.ctx.(Filer)
			switch {
			case !ok:
				err = badArg("nobody reads or writes a file here")
			case in.op == ir.OpValue:
				m.set(in, Val{Str: noNUL(f.Written())}, ints, strs)
			default:
				f.Reply(strs[in.a], in.n == 1)
			}

		case ir.OpEmbed:
			err = badArg("embedded C runs in kernel modules only")

		case ir.OpStore, ir.OpSetReg:
			err = m.change(in, ints)

		case ir.OpGGet:
			var v Val
			v, _, err = m.store.Get(int(in.glob), nil)
			m.set(in, v, ints, strs)
		case ir.OpGSet:
			err = m.store.Set(int(in.glob), nil, m.val(in, in.args[0], ints, strs))
		case ir.OpGAdd:
			var before int64
			before, err = m.store.Add(int(in.glob), nil, ints[in.a])
			if in.dst >= 0 {
				ints[in.dst] = before
			}
		case ir.OpMGet:
			var v Val
			v, _, err = m.store.Get(int(in.glob), m.keyOf(in, ints, strs))
			m.set(in, v, ints, strs)
		case ir.OpMSet:
			err = m.full(in, m.store.Set(int(in.glob), m.keyOf(in, ints, strs), m.val(in, in.args[0], ints, strs)))
		case ir.OpMAdd:
			var before int64
			before, err = m.store.Add(int(in.glob), m.keyOf(in, ints, strs), ints[in.a])
			if err != nil {
				err = m.full(in, err)
			} else if in.dst >= 0 {
				ints[in.dst] = before
			}
		case ir.OpMHas:
			ints[in.dst], err = m.has(in, ints, strs)
		case ir.OpMDel:
			err = m.del(in, ints, strs)
		case ir.OpMClear:
			err = m.store.Clear(int(in.glob))
		case ir.OpSAdd:
			err = m.full(in, m.store.AddStat(int(in.glob), m.keyOf(in, ints, strs), ints[in.a]))
		case ir.OpSGet:
			ints[in.dst], err = m.stat(in, ints, strs)

		case ir.OpIterOpen:
			err = m.open(&m.iters[fr.iter+int(in.iter)], in, ints, strs)
		case ir.OpIterNext:
			ints[in.dst] = m.iters[fr.iter+int(in.iter)].next()
		case ir.OpIterKey:
			m.set(in, m.iters[fr.iter+int(in.iter)].elem().key(in.n), ints, strs)
		case ir.OpIterVal:
			m.set(in, m.iters[fr.iter+int(in.iter)].elem().Val, ints, strs)

		case ir.OpPrint:
			if args := m.printArgs(in, ints, strs); m.values != nil {
				m.values.PrintValues(int(in.n), args)
			} else {
				m.buf = textfmt.Append(m.buf[:0], in.format, args)
				m.out.Print(m.buf)
			}
		case ir.OpSprint:
			m.buf = textfmt.Append(m.buf[:0], in.format, m.printArgs(in, ints, strs))
			strs[in.dst] = toString(m.buf, in.cap)
		case ir.OpPrintHist, ir.OpSprintHist:
			err = m.hist(in, ints, strs)

		case ir.OpCall:
			if len(m.frames) > m.nest {
				err = fault(ir.ErrMaxNesting)
				break
			}
			m.push(in.fn, in, pc)
			caller, callerStrs := ints, strs
			window()
			for i, a := range in.args {
				if p := fr.f.params[i]; p.str {
					strs[p.slot] = cut(callerStrs[a.slot], p.cap)
				} else {
					ints[p.slot] = caller[a.slot]
				}
			}
			pc = 0
		case ir.OpIntr:
			var v Val
			v, err = m.intrinsic(in, ints, strs)
			if err == nil {
				m.set(in, v, ints, strs)
			}

		case ir.OpBudget:
			m.left -= in.n
			if m.left < 0 {
				m.report(&textfmt.Fault{Code: ir.ErrMaxAction, Pos: in.pos})
				return Result{}, nil
			}
		case ir.OpLock:
			if in.view != nil {
				if err := m.enterView(in.view); err == ErrLocked {
					return Result{Skipped: true, Cause: ir.SkipLock}, nil
				} else if err != nil {
					return Result{}, err
				}
				break
			}
			if m.store.Lock(int(in.n)) != nil {
				return Result{Skipped: true, Cause: ir.SkipLock}, nil
			}
			m.held = int(in.n)
		case ir.OpUnlock:
			if m.view == nil {
				m.store.Unlock(int(in.n))
				m.held = -1
			}
		case ir.OpErrMsg:
			strs[in.dst] = cut(noNUL(fr.pending.Message(m.p)), in.cap)
		case ir.OpReport:
			m.report(fr.pending)

		case opJump:
			pc = in.then
		case opBranch:
			if ints[in.a] != 0 {
				pc = in.then
			} else {
				pc = in.els
			}
		case opReturn:
			var v Val
			if len(in.args) > 0 {
				if a := in.args[0]; a.str {
					v.Str = cut(strs[a.slot], int32(fr.f.resultCap))
				} else {
					v.Int = ints[a.slot]
				}
			}
			done := m.pop()
			window()
			m.set(done.call, v, ints, strs)
			pc = done.pc
		case opEnd:
			return Result{Done: true}, nil
		case opSkip:
			return Result{Skipped: true, Cause: in.cause}, nil
		case opFail:
			f := &textfmt.Fault{Code: in.code, Pos: in.pos}
			for _, a := range in.args {
				f.Args = append(f.Args, value(a, ints, strs))
			}
			err = f
		}
		if err == nil {
			continue
		}
		f, ok := err.(*textfmt.Fault)
		if !ok {
			if err == errAbort {
				return Result{}, nil
			}
			return Result{}, err
		}
		if f.Pos == 0 {
			f.Pos = in.pos
		}
		// Unwind to the innermost activation that goes on after an error.
		onErr := in.onErr
		for onErr < 0 {
			if fr.call == nil {
				m.report(f)
				return Result{}, nil
			}
			onErr = fr.call.onErr
			m.pop()
			fr = &m.frames[len(m.frames)-1]
		}
		window()
		fr.pending = f
		pc = onErr
	}
}

func (m *Machine) report(f *textfmt.Fault) {
	m.errs++
	m.out.Error(f)
}

func div(a, b int64) int64 {
	if b == 0 {
		return 0 // programs check before
	}
	return a / b
}

func mod(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a % b
}

func concat(a, b string, n int32) string {
	if len(a) >= int(n) {
		return a[:n]
	}
	return a + b[:min(len(b), int(n)-len(a))]
}

// noNUL is s up to its first NUL byte: strings of the language cannot hold one.
func noNUL(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}

func toString(b []byte, n int32) string {
	for i, c := range b {
		if c == 0 || i == int(n) {
			return string(b[:i])
		}
	}
	return string(b)
}

// value reads an operand.
func value(a arg, ints []int64, strs []string) Val {
	if a.str {
		return Val{Str: strs[a.slot]}
	}
	return Val{Int: ints[a.slot]}
}

// val reads a value that is to be stored in in's global.
func (m *Machine) val(in *inst, a arg, ints []int64, strs []string) Val {
	if a.str {
		return Val{Str: cut(strs[a.slot], in.valCap)}
	}
	return Val{Int: ints[a.slot]}
}

// set writes in's result.
func (m *Machine) set(in *inst, v Val, ints []int64, strs []string) {
	switch {
	case in.dst < 0:
	case in.dstStr:
		strs[in.dst] = cut(v.Str, in.cap)
	default:
		ints[in.dst] = v.Int
	}
}

// keyOf gathers in's key; nil for scalars.
func (m *Machine) keyOf(in *inst, ints []int64, strs []string) Key {
	if in.scalar {
		return nil
	}
	m.key = m.key[:0]
	for _, a := range in.keys {
		if a.str {
			m.key = append(m.key, Val{Str: cut(strs[a.slot], a.cap)})
		} else {
			m.key = append(m.key, Val{Int: ints[a.slot]})
		}
	}
	return m.key
}

// printArgs gathers the values of a print. Memory that cannot be read is no bytes: print cannot fail.
func (m *Machine) printArgs(in *inst, ints []int64, strs []string) []Val {
	m.vals = m.vals[:0]
	for _, a := range in.args {
		m.vals = append(m.vals, value(a, ints, strs))
	}
	if !in.mem {
		return m.vals
	}
	i := 0
	for _, p := range in.format.Pieces {
		if p.Conv == 0 {
			continue
		}
		prec := p.Prec
		if p.WidthArg {
			i++
		}
		if p.PrecArg {
			prec = textfmt.Field(m.vals[i].Int)
			i++
		}
		if p.Conv == 'm' || p.Conv == 'M' {
			// # says that the address is the process's, as in stap.
			buf := make([]byte, min(textfmt.MemSize(prec), textfmt.MaxMem))
			if m.read(buf, uint64(m.vals[i].Int), !p.Alt) == nil {
				m.vals[i].Str = string(buf)
			}
		}
		i++
	}
	return m.vals
}

func (m *Machine) intrinsic(in *inst, ints []int64, strs []string) (Val, error) {
	if m.capt != nil && in.captured {
		if v, code, ok := m.capt.Captured(in.src); ok {
			v.Str = cut(noNUL(v.Str), in.valCap)
			return v, m.capturedFault(in, code, ints)
		}
	}
	m.vals = m.vals[:0]
	for _, a := range in.args {
		m.vals = append(m.vals, value(a, ints, strs))
	}
	var v Val
	var err error
	if in.call != nil {
		v, err = in.call(m, m.vals, int(in.valCap))
	} else {
		v, err = m.ctx.Intrinsic(in.name, m.vals)
	}
	if err != nil {
		if _, ok := err.(*textfmt.Fault); !ok && err != errAbort {
			err = badArg(err.Error())
		}
		return Val{}, err
	}
	v.Str = cut(noNUL(v.Str), in.valCap)
	return v, nil
}
