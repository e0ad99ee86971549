package interp

import (
	"encoding/binary"
	"errors"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// probed runs what reads the probed place.
func (m *Machine) probed(in *inst, ints []int64) (Val, error) {
	if m.capt != nil {
		if v, code, ok := m.capt.Captured(in.src); ok {
			return v, m.capturedFault(in, code, ints)
		}
	}
	switch in.op {
	case ir.OpReg:
		return Val{Int: m.ctx.Reg(int(in.n))}, nil
	case ir.OpTraceArg:
		if e, ok := m.ctx.(Eventful); ok {
			return Val{Int: e.TraceArg(int(in.n))}, nil
		}
		return Val{}, nil
	case ir.OpTLS:
		return Val{Int: m.ctx.ThreadPointer()}, nil
	case ir.OpBias:
		return Val{Int: m.ctx.Bias()}, nil
	case ir.OpLoad:
		n, err := m.load(uint64(ints[in.a]), int(in.n), in.signed, in.kernel)
		return Val{Int: n}, err
	}
	return m.site(in.name), nil
}

func (m *Machine) capturedFault(in *inst, code ir.Code, ints []int64) error {
	switch code {
	case ir.ErrNone:
		return nil
	case ir.ErrMemory:
		addr := int64(0)
		if in.op == ir.OpLoad || len(in.args) > 0 && !in.args[0].str {
			addr = ints[in.a]
		}
		return fault(code, Val{Int: addr})
	}
	return fault(code)
}

// change runs what changes the traced program.
func (m *Machine) change(in *inst, ints []int64) error {
	w, ok := m.ctx.(Writer)
	if !ok {
		return badArg("changing the traced program: " + ErrNoContext.Error())
	}
	if in.op == ir.OpSetReg {
		if err := w.SetReg(int(in.n), ints[in.a]); err != nil {
			return badArg(err.Error())
		}
		return nil
	}
	binary.LittleEndian.PutUint64(m.word[:], uint64(ints[in.b]))
	err := w.Write(m.word[:in.n], uint64(ints[in.a]), in.kernel)
	var f *textfmt.Fault
	if err != nil && !errors.As(err, &f) {
		return fault(ir.ErrWrite, Val{Int: ints[in.a]})
	}
	return err
}

// site gives an attribute of the site that fired.
func (m *Machine) site(name string) Val {
	if m.attrs != nil {
		if v, ok := m.attrs.Attr(name); ok {
			v.Str = noNUL(v.Str)
			return v
		}
	}
	s := m.ctx.Site()
	if s == nil {
		return Val{}
	}
	switch name {
	case "pp":
		return Val{Str: s.Point}
	case "pn":
		if s.Alias != "" {
			return Val{Str: s.Alias}
		}
		return Val{Str: s.Point}
	case "ppfunc", "probefunc":
		return Val{Str: s.Func}
	case "pc":
		return Val{Int: int64(s.At.PC) + m.ctx.Bias()}
	case "id":
		for i, o := range m.p.Probes[m.probe].Sites {
			if o == s {
				return Val{Int: int64(i)}
			}
		}
	}
	return Val{}
}
