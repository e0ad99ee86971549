package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/diag"
)

// row is a probe with what was seen of it.
type row struct {
	gostap.ProbeState
	rate      float64       // runs a second since the last look
	low, high time.Duration // of the averages between two looks
}

// average is what a handler takes.
func (r *row) average() time.Duration {
	if r.Hits == 0 {
		return 0
	}
	return r.Took / time.Duration(r.Hits)
}

// orders are the columns that probes can be sorted by.
var orders = []string{"index", "runs", "rate", "avg", "name"}

// pane is a part of the window that can be scrolled.
type pane uint8

const (
	thePlaces pane = iota
	theGlobals
	theOutput
	panes
)

// view is what the window shows.
type view struct {
	name    string
	began   time.Time
	now     time.Time
	looked  time.Time
	rows    []row
	globals gostap.Globals
	order   int
	chosen  string // the global whose elements are shown, "" for all in one line each
	hidden  bool   // probes and globals
	focus   pane
	skip    [panes]int // lines that are scrolled away; of the output, from the end
	page    [panes]int // lines that there is room for
	output  []string
	lost    int
	note    string // the last answer to a key
	asking  bool   // for the number of a probe
	typed   string
}

// take takes in how the probes are now.
func (v *view) take(probes []gostap.ProbeState, globals gostap.Globals, now time.Time) {
	first := v.rows == nil
	passed := now.Sub(v.looked).Seconds()
	if len(v.rows) != len(probes) {
		v.rows = make([]row, len(probes))
	}
	for i, p := range probes {
		r := &v.rows[i]
		if hits, took := p.Hits-r.Hits, p.Took-r.Took; hits > 0 && p.Hits >= r.Hits {
			mean := took / time.Duration(hits)
			if r.high == 0 || mean < r.low {
				r.low = mean
			}
			r.high = max(r.high, mean)
			if !first && passed > 0 {
				r.rate = float64(hits) / passed
			}
		} else {
			r.rate = 0
		}
		r.ProbeState = p
	}
	v.globals, v.looked, v.now = globals, now, now
}

// frame gives the lines of a window with w columns and h rows.
func (v *view) frame(w, h int) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fit(fmt.Sprintf(format, args...), w)) }
	off, hits := 0, uint64(0)
	for _, r := range v.rows {
		if hits += r.Hits; !r.On {
			off++
		}
	}
	state := ""
	if off > 0 {
		state = fmt.Sprintf(", %d off", off)
	}
	add("%s  up %s  probes %d%s  runs %d", v.name, clock(v.now.Sub(v.began)), len(v.rows), state, hits)
	left := h - 2 // this line and the last
	if !v.hidden {
		probes := v.table()
		n := min(len(probes), max(left/3, 2))
		out = append(out, v.part(thePlaces, "probes by "+orders[v.order], probes, n, w)...)
		globals := v.values()
		g := min(len(globals), max(left/3-1, 1))
		if len(globals) > 0 {
			out = append(out, v.part(theGlobals, "globals"+v.which(), globals, g, w)...)
		}
	}
	if room := h - 1 - len(out) - 1; room > 0 {
		out = append(out, v.part(theOutput, "output", v.output, room, w)...)
	}
	out = out[:min(len(out), max(h-1, 0))]
	for len(out) < h-1 {
		out = append(out, "")
	}
	return append(out, fit(v.foot(), w))
}

// part gives a heading and n lines of a pane.
func (v *view) part(p pane, head string, all []string, n, w int) []string {
	n = max(n, 0)
	v.page[p] = max(n, 1)
	v.skip[p] = max(0, min(v.skip[p], len(all)-n))
	from := v.skip[p]
	if p == theOutput { // its end is what matters
		from = max(0, len(all)-n-v.skip[p])
	}
	to := min(len(all), from+n)
	if to-from < len(all) {
		head += fmt.Sprintf(" (%d to %d of %d)", from+1, to, len(all))
	}
	mark := "--"
	if v.focus == p {
		mark = "=="
	}
	out := []string{fit(mark+" "+head+" "+strings.Repeat(mark[:1], w), w)}
	for _, l := range all[from:to] {
		out = append(out, fit(l, w))
	}
	return out
}

// table has a line for each probe, by the order chosen, below a heading.
func (v *view) table() []string {
	index := make([]int, len(v.rows))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(i, j int) int {
		a, b := &v.rows[i], &v.rows[j]
		switch orders[v.order] {
		case "runs":
			return cmp.Compare(b.Hits, a.Hits)
		case "rate":
			return cmp.Compare(b.rate, a.rate)
		case "avg":
			return cmp.Compare(b.average(), a.average())
		case "name":
			return cmp.Compare(a.Point, b.Point)
		}
		return 0
	})
	out := []string{fmt.Sprintf("%5s %-5s %12s %9s %9s %9s %9s  %s", "index", "state", "runs", "runs/s", "min ns",
		"avg ns", "max ns", "probe")}
	for _, i := range index {
		r := &v.rows[i]
		state := "on"
		switch {
		case !r.On:
			state = "off"
		case r.Fixed:
			state = "fixed"
		}
		places := ""
		if r.Places > 1 {
			places = fmt.Sprintf(" (%d places)", r.Places)
		}
		out = append(out, fmt.Sprintf("%5d %-5s %12d %9.0f %9d %9d %9d  %s%s", i, state, r.Hits, r.rate, r.low,
			r.average(), r.high, r.Point, places))
	}
	return out
}

// which says which global is shown.
func (v *view) which() string {
	if v.chosen == "" {
		return ""
	}
	return " " + v.chosen
}

// next chooses another global.
func (v *view) next() {
	names := append([]string{""}, slices.Sorted(maps.Keys(v.globals))...)
	v.chosen = names[(slices.Index(names, v.chosen)+1)%len(names)]
	v.skip[theGlobals] = 0
}

// values has a line for each global, or for each element of the one chosen, the greatest first.
func (v *view) values() (out []string) {
	if g, ok := v.globals[v.chosen]; ok {
		elems := slices.Clone(g.Elements)
		slices.SortStableFunc(elems, func(a, b gostap.Element) int { return cmp.Compare(weight(&b), weight(&a)) })
		for i := range elems {
			out = append(out, v.chosen+element(&elems[i]))
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(v.globals)) {
		g := v.globals[name]
		if g.Keys == 0 && len(g.Elements) == 1 {
			out = append(out, name+element(&g.Elements[0]))
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d elements", name, len(g.Elements)))
	}
	return out
}

func weight(e *gostap.Element) int64 {
	if e.Stats != nil {
		return e.Stats.Count
	}
	return e.Value.Int
}

// element writes an element as scripts print globals at the end.
func element(e *gostap.Element) string {
	var keys []string
	for _, k := range e.Key {
		if k.IsText {
			keys = append(keys, strconv.Quote(k.Text))
		} else {
			keys = append(keys, k.String())
		}
	}
	key := ""
	if keys != nil {
		key = "[" + strings.Join(keys, ",") + "]"
	}
	switch s := e.Stats; {
	case s != nil:
		return fmt.Sprintf("%s @count=%d @min=%d @max=%d @sum=%d @avg=%d", key, s.Count, s.Min, s.Max, s.Sum, s.Avg())
	case e.Value.IsText:
		return key + "=" + strconv.Quote(e.Value.Text)
	}
	return key + "=" + e.Value.String()
}

// foot is the last line.
func (v *view) foot() string {
	if v.asking {
		return "switch probes on or off, by index: " + v.typed
	}
	keys := "q quit  p pause  r resume  t switch  c reset  s sort  g global  x hide  Tab, arrows scroll"
	if v.note != "" {
		return v.note + "  |  " + keys
	}
	return keys
}

// clock writes a duration as hours, minutes and seconds.
func clock(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// fit makes a line of w columns at most, without anything that moves the cursor.
func fit(s string, w int) string {
	s = strings.ReplaceAll(diag.Visible(s), "\t", "    ")
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if utf8.RuneCountInString(s) <= w {
		return s
	}
	return string([]rune(s)[:max(w, 0)])
}
