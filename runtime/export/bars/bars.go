// Package bars writes a profile as a table with bars, for a terminal: where the time went by a label, and by
// function.
package bars

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/export/flame"
)

// Options say what is told.
type Options struct {
	// Value is which type of value is meant.
	Value int
	// Label is a label whose texts get a table of their own, "" for none.
	Label string
	// Most is how many rows a table has, Width how many columns the terminal.
	Most, Width int
	// Skip tells functions that are not meant by "itself": the first other one of the stack is, if there is any.
	Skip func(name string) bool
}

type line struct {
	name        string
	self, total int64
}

// Write writes the tables of p.
func Write(w io.Writer, p *export.Profile, o Options) error {
	b := bufio.NewWriter(w)
	whole := p.Total(o.Value)
	unit := p.Types[o.Value].Unit
	fmt.Fprintf(b, "%s: %s\n", p.Title, flame.Amount(whole, unit))
	byLabel, byFunc := map[string]*line{}, map[string]*line{}
	at := func(m map[string]*line, name string) *line {
		if m[name] == nil {
			m[name] = &line{name: name}
		}
		return m[name]
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		v := s.Values[o.Value]
		if o.Label != "" {
			at(byLabel, cmp.Or(s.Label(o.Label), "-")).self += v
		}
		seen := map[string]bool{}
		self := max(0, slices.IndexFunc(s.Stack, func(f export.Frame) bool {
			return o.Skip != nil &&
				!o.Skip(f.Name())
		}))
		for k, f := range s.Stack {
			l := at(byFunc, f.Name())
			if k == self {
				l.self += v
			}
			if !seen[l.name] { // a function that calls itself counts once
				seen[l.name] = true
				l.total += v
			}
		}
		if len(s.Stack) == 0 {
			l := at(byFunc, "[unknown]")
			l.self, l.total = l.self+v, l.total+v
		}
	}
	if o.Label != "" {
		fmt.Fprintf(b, "\n%12s %7s  %s\n", "", "share", o.Label)
		for _, l := range first(byLabel, o.Most) {
			fmt.Fprintf(b, "%12s %6.1f%%  %-28s %s\n", flame.Amount(l.self, unit), percent(l.self, whole), l.name,
				bar(l.self, whole, o.Width-52))
		}
	}
	fmt.Fprintf(b, "\n%12s %7s %7s  function\n", "itself", "share", "called")
	for _, l := range first(byFunc, o.Most) {
		fmt.Fprintf(b, "%12s %6.1f%% %6.1f%%  %-36s %s\n", flame.Amount(l.self, unit), percent(l.self, whole),
			percent(l.total, whole), l.name, bar(l.self, whole, o.Width-68))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(b, "\n%s\n", n)
	}
	return b.Flush()
}

// first gives the greatest lines.
func first(m map[string]*line, most int) []*line {
	var out []*line
	for _, l := range m {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *line) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name))
	})
	return out[:min(len(out), most)]
}

func percent(v, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(v) / float64(whole)
}

// bar is as long as v is of the whole, in room columns, by eighths.
func bar(v, whole int64, room int) string {
	if whole <= 0 || v <= 0 || room < 4 {
		return ""
	}
	n := int(float64(v) / float64(whole) * float64(room) * 8)
	s := strings.Repeat("█", n/8)
	if n%8 > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[n%8-1])
	}
	return s
}
