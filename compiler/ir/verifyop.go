package ir

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/types"
)

func (v *verifier) onGlobal(in *Instr, g *Global) error {
	scalar, array, stats := !g.IsArray(), g.IsArray(), g.Type == types.Stats
	rest, wantDst, optional := in.Args, types.Unknown, false
	var want []types.Type
	ok, stars := false, false
	switch in.Op {
	case OpGGet:
		ok, wantDst = scalar && !stats, g.Type
	case OpGSet:
		ok, want = scalar && !stats, []types.Type{g.Type}
	case OpGAdd:
		ok, want, wantDst, optional = scalar && g.Type == types.Long, []types.Type{types.Long}, types.Long, true
	case OpMGet:
		ok, wantDst = array && !stats, g.Type
	case OpMSet:
		ok, want = array && !stats, []types.Type{g.Type}
	case OpMAdd:
		ok, want, wantDst, optional = array && g.Type == types.Long, []types.Type{types.Long}, types.Long, true
	case OpMHas:
		ok, stars, wantDst = array, true, types.Long
	case OpMDel:
		ok, stars = array, true
	case OpMClear:
		if len(in.Args) > 0 {
			return fmt.Errorf("clears all of it, no keys belong here")
		}
		return v.dst(in, types.Unknown, false)
	case OpSAdd:
		ok, want = stats, []types.Type{types.Long}
	case OpSGet:
		ok, stars, wantDst = stats, true, types.Long
		switch Stat(in.N) {
		case StatCount, StatSum, StatMin, StatMax, StatAvg:
		case StatVariance:
			ok = ok && g.Stat.Variance
			want = []types.Type{types.Long}
		case StatBucket:
			ok = ok && in.Iter >= 0 && in.Iter < len(g.Stat.Hists)
			want = []types.Type{types.Long}
		default:
			ok = false
		}
	case OpPrintHist, OpSprintHist:
		ok, stars = stats && in.N >= 0 && in.N < int64(len(g.Stat.Hists)), true
		if in.Op == OpSprintHist {
			wantDst = types.String
		}
	default:
		return v.iter(in, g)
	}
	if !ok {
		return fmt.Errorf("not for a global like %s", g.Name)
	}
	rest, err := v.keys(g, rest, stars)
	if err == nil {
		err = v.args(rest, want...)
	}
	if err == nil {
		err = v.dst(in, wantDst, optional)
	}
	return err
}

// Order is what OpIterOpen sorts by.
type Order struct {
	// By is 0 (the order of insertion), 'k' (key column Col), 'v' (value; count for aggregates) or
	// '@' (statistic Stat).
	By   byte
	Col  int
	Stat Stat
	Desc bool
}

// ParseOrder reads the Name of an OpIterOpen: "", "k0+", "v-", "@sum+".
func ParseOrder(s string) (Order, bool) {
	if s == "" {
		return Order{}, true
	}
	o := Order{By: s[0], Desc: s[len(s)-1] == '-'}
	if len(s) < 2 || !o.Desc && s[len(s)-1] != '+' {
		return o, false
	}
	switch mid := s[1 : len(s)-1]; o.By {
	case 'k':
		n, ok := number("r"+mid, "r")
		o.Col = n
		return o, ok
	case 'v':
		return o, mid == ""
	case '@':
		for o.Stat = StatCount; o.Stat < StatBucket; o.Stat++ {
			if o.Stat.String() == mid {
				return o, true
			}
		}
	}
	return o, false
}

func (v *verifier) iter(in *Instr, g *Global) error {
	if !g.IsArray() || in.Iter < 0 || in.Iter >= MaxIters {
		return fmt.Errorf("iterator %d over global %s", in.Iter, g.Name)
	}
	if b := v.iters[in.Iter]; b != 0 && b != in.Glob+1 {
		return fmt.Errorf("iterator %d is over two arrays", in.Iter)
	}
	v.iters[in.Iter] = in.Glob + 1
	switch in.Op {
	case OpIterOpen:
		o, ok := ParseOrder(in.Name)
		if !ok || o.By == 'k' && o.Col >= len(g.Keys) || o.By == '@' &&
			(g.Type != types.Stats || o.Stat == StatVariance && !g.Stat.Variance) {
			return fmt.Errorf("order %q", in.Name)
		}
		if len(in.Args) == 0 {
			return fmt.Errorf("no limit")
		}
		rest := in.Args
		if len(rest) > 1 {
			var err error
			if rest, err = v.keys(g, rest, true); err != nil {
				return err
			}
		}
		if err := v.args(rest, types.Long); err != nil {
			return err
		}
		return v.dst(in, types.Unknown, false)
	case OpIterNext:
		if err := v.args(in.Args); err != nil {
			return err
		}
		return v.dst(in, types.Long, false)
	case OpIterKey:
		if in.N < 0 || in.N >= int64(len(g.Keys)) || len(in.Args) > 0 {
			return fmt.Errorf("key %d", in.N)
		}
		return v.dst(in, g.Keys[in.N].Type, false)
	}
	if g.Type == types.Stats || len(in.Args) > 0 {
		return fmt.Errorf("an aggregate has no value")
	}
	return v.dst(in, g.Type, false)
}

func (v *verifier) print(in *Instr) error {
	if in.N < 0 || in.N >= int64(len(v.p.Formats)) {
		return fmt.Errorf("no format %d", in.N)
	}
	if err := v.args(in.Args, v.p.Formats[in.N].ArgTypes()...); err != nil {
		return err
	}
	if in.Op == OpSprint {
		return v.dst(in, types.String, false)
	}
	return v.dst(in, types.Unknown, false)
}

func (v *verifier) call(in *Instr) error {
	f := v.funcs[in.Name]
	if f == nil {
		return fmt.Errorf("no function %q", in.Name)
	}
	var want []types.Type
	for _, r := range f.Params {
		if r < 0 || int(r) >= len(f.Regs) {
			return fmt.Errorf("func %s is broken", f.Name)
		}
		want = append(want, f.Regs[r].Type)
	}
	if err := v.args(in.Args, want...); err != nil {
		return err
	}
	return v.dst(in, f.Result, true)
}

func (v *verifier) intr(in *Instr) error {
	f := intrinsic.Lookup(in.Name)
	if f == nil {
		return fmt.Errorf("no intrinsic %q", in.Name)
	}
	if f.Where == intrinsic.Lowered {
		return fmt.Errorf("intrinsic %s is for the compiler only", in.Name)
	}
	args := in.Args
	if n := f.Const - 1; f.Table && n < len(args) && args[n].Kind == ValStr && len(args[n].Str) <= MaxTable {
		// The tables are no values of the script: MAXSTRINGLEN does not bound them.
		args = slices.Clone(args)
		args[n] = S("")
	}
	params := f.Params
	if f.Rest != types.Unknown {
		params = slices.Clone(params)
		for len(params) < len(args) {
			params = append(params, f.Rest)
		}
	}
	if err := v.args(args, params...); err != nil {
		return err
	}
	return v.dst(in, f.Result, true)
}
