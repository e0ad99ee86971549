package interp

import (
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
)

// full turns ErrFull into the script's error.
func (m *Machine) full(in *inst, err error) error {
	if err == ErrFull {
		return fault(ir.ErrMapFull, Val{Int: int64(in.glob)})
	}
	return err
}

func (m *Machine) has(in *inst, ints []int64, strs []string) (int64, error) {
	if in.star {
		elems, err := m.matching(in, ints, strs)
		return truth(len(elems) > 0), err
	}
	key := m.keyOf(in, ints, strs)
	if m.p.Globals[in.glob].Type == types.Stats {
		_, ok, err := m.store.Stat(int(in.glob), key)
		return truth(ok), err
	}
	_, ok, err := m.store.Get(int(in.glob), key)
	return truth(ok), err
}

func (m *Machine) del(in *inst, ints []int64, strs []string) error {
	if !in.star {
		return m.store.Delete(int(in.glob), m.keyOf(in, ints, strs))
	}
	elems, err := m.matching(in, ints, strs)
	for i := 0; i < len(elems) && err == nil; i++ {
		err = m.store.Delete(int(in.glob), elems[i].Key)
	}
	return err
}

// agg gives the aggregate that in names, merged when its key has stars.
func (m *Machine) agg(in *inst, ints []int64, strs []string) (Agg, error) {
	if !in.star {
		a, _, err := m.store.Stat(int(in.glob), m.keyOf(in, ints, strs))
		return a, err
	}
	var sum Agg
	elems, err := m.matching(in, ints, strs)
	for i := range elems {
		if elems[i].Agg != nil {
			sum.Merge(elems[i].Agg)
		}
	}
	return sum, err
}

func (m *Machine) stat(in *inst, ints []int64, strs []string) (int64, error) {
	a, err := m.agg(in, ints, strs)
	if err != nil {
		return 0, err
	}
	if ir.Stat(in.n) != ir.StatBucket {
		v, ok := a.Stat(ir.Stat(in.n))
		if !ok {
			return 0, fault(ir.ErrEmptyStat)
		}
		return v, nil
	}
	n := int64(m.p.Globals[in.glob].Stat.Hists[in.iter].Buckets())
	i := ints[in.args[0].slot]
	if i < 0 || i >= n {
		return 0, fault(ir.ErrIndexRange, Val{Int: i}, Val{Int: n})
	}
	if int(in.iter) < len(a.Hists) && i < int64(len(a.Hists[in.iter])) {
		return a.Hists[in.iter][i], nil
	}
	return 0, nil
}

func (m *Machine) hist(in *inst, ints []int64, strs []string) error {
	a, err := m.agg(in, ints, strs)
	if err != nil {
		return err
	}
	m.buf = m.buf[:0]
	var counts []int64
	if int(in.n) < len(a.Hists) {
		counts = a.Hists[in.n]
	}
	if a.Count != 0 {
		m.buf = textfmt.Hist(m.buf, m.p.Globals[in.glob].Stat.Hists[in.n], counts)
	}
	switch {
	case in.op == ir.OpPrintHist && m.values != nil:
		var keys []Val
		if !in.star {
			keys = slices.Clone(m.keyOf(in, ints, strs))
		}
		m.values.PrintHist(int(in.glob), keys, a.clone(), int(in.n), m.buf)
	case in.op == ir.OpPrintHist:
		m.out.Print(m.buf)
	default:
		strs[in.dst] = toString(m.buf, in.cap)
	}
	return nil
}
