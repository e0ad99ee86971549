package gostap

import (
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/metric"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/merge"
)

// Globals are the global variables of a script by name, as they were at one moment; those of one lock are of the very
// same moment.
type Globals map[string]Global

// Global is a global variable. Value and Map give it as Go types.
type Global struct {
	// Keys is how many keys an array has, 0 for a scalar.
	Keys int
	// Place is its place among the globals of the script.
	Place int
	// Unread: Options.PrintGlobals prints it at the end, since the script never reads it.
	Unread bool
	// Metric is what the script says of it as a metric, nil if it is none.
	Metric *metric.Decl
	// Elements are those of an array, in the order in which they came where that is known, or the one of a scalar. When
	// the session has ended those of an Unread array are in the order in which they are printed.
	Elements []Element
}

// Element is an element of an array, or the value of a scalar.
type Element struct {
	Key []Value
	// Value is a number or a string, a float where IsFloat says so; Stats, if not nil, an aggregate instead.
	Value Value
	Stats *Stats
}

// Stats is an aggregate: what was put into it by <<<.
type Stats struct {
	Count, Sum, Min, Max int64
	// Scale is that of what the script has added by @scaled, else 1: Sum, Min, Max, Avg and the bounds of histograms
	// count parts of 1/Scale, Variance those of its square.
	Scale int64
	// Variance is that of a sample, rounded down, where the script asks for @variance, else 0.
	Variance int64
	// Histograms is the one that the script prints anywhere, if it does: probe never { print(@hist_log(x)) } asks for
	// it.
	Histograms []Histogram
}

// Avg is the mean, rounded towards zero as @avg does, 0 if there are no values.
func (s *Stats) Avg() int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / s.Count
}

// Histogram counts values by size.
type Histogram struct {
	// Linear tells @hist_linear(Low, High, Width) from @hist_log.
	Linear           bool
	Low, High, Width int64
	// Buckets are all those that are not empty, the smallest values first.
	Buckets []Bucket

	scale  int64
	counts []int64
}

// Bucket counts the values v with From <= v <= To.
type Bucket struct {
	From, To int64
	Count    int64
}

// Map gives the counts by the smallest value of each bucket.
func (h *Histogram) Map() map[int64]int64 {
	m := make(map[int64]int64, len(h.Buckets))
	for _, b := range h.Buckets {
		m[b.From] = b.Count
	}
	return m
}

// String is the histogram as scripts print it.
func (h *Histogram) String() string {
	return string(textfmt.Hist(nil, ir.Hist{Linear: h.Linear, Low: h.Low, High: h.High, Width: h.Width, Scale: h.scale},
		h.counts))
}

// look reads the globals of the script. ended: those that are printed at the end are in that order.
func (s *Session) look(ended bool) (Globals, error) {
	p := s.p.ir
	var shown []int
	for i, g := range p.Globals {
		if g.Shown {
			shown = append(shown, i)
		}
	}
	elems, err := merge.Take(s.b.Store(), p, shown)
	if err != nil {
		return nil, err
	}
	out := Globals{}
	for i, list := range elems {
		if ended && p.Globals[i].Unread {
			interp.SortElems(list, ir.Order{By: 'v', Desc: true}, p.Globals[i]) // as its end probe does
		}
		g := global(p.Globals[i], list)
		g.Place = i
		out[p.Globals[i].Name] = g
	}
	return out, nil
}

// global copies what a store gave.
func global(g *ir.Global, elems []interp.Elem) Global {
	out := Global{Keys: len(g.Keys), Unread: g.Unread, Elements: make([]Element, len(elems))}
	if g.Metric != "" {
		out.Metric, _ = metric.Parse(g.Metric) // which Load checks
	}
	for i := range elems {
		e := &out.Elements[i]
		for k, v := range elems[i].Key {
			e.Key = append(e.Key, value(g.Keys[k].Type, v))
		}
		if g.Type == types.Stats {
			e.Stats = stats(g, elems[i].Agg)
		} else {
			e.Value = value(g.Type, elems[i].Val)
			if g.Float {
				e.Value = number(elems[i].Val.Int, 'g')
			}
		}
	}
	return out
}

func value(t types.Type, v interp.Val) Value {
	if t == types.String {
		return Value{Text: strings.Clone(v.Str), IsText: true}
	}
	return Value{Int: v.Int}
}

func stats(g *ir.Global, a *interp.Agg) *Stats {
	s := &Stats{Scale: max(g.Stat.Scale, 1)}
	if a == nil {
		return s
	}
	s.Count, s.Sum, s.Min, s.Max = a.Count, a.Sum, a.Min, a.Max
	if g.Stat.Variance {
		s.Variance = a.Variance()
	}
	for i, h := range g.Stat.Hists {
		out := Histogram{Linear: h.Linear, Low: h.Low, High: h.High, Width: h.Width, scale: h.Scale,
			counts: make([]int64, h.Buckets())}
		if i < len(a.Hists) {
			copy(out.counts, a.Hists[i])
		}
		for k, n := range out.counts {
			if n != 0 {
				from, to := layout.HistLogRange(k)
				if h.Linear {
					from, to = layout.HistLinearRange(k, h.Low, h.High, h.Width)
				}
				out.Buckets = append(out.Buckets, Bucket{from, to, n})
			}
		}
		s.Histograms = append(s.Histograms, out)
	}
	return s
}
