package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gostap/gostap"
)

// filled is a view of many probes, globals and lines.
func filled() *view {
	v := &view{name: "x", focus: theOutput}
	var probes []gostap.ProbeState
	for i := range 50 {
		probes = append(probes, gostap.ProbeState{On: i%2 == 0, Fixed: i == 0, HandlerTime: gostap.HandlerTime{
			Point: fmt.Sprintf("point\x1b[2J%d", i), Hits: uint64(i), Took: time.Duration(i * i)}})
	}
	globals := gostap.Globals{}
	for i := range 30 {
		globals[fmt.Sprint("g", i)] = gostap.Global{Elements: []gostap.Element{{Value: gostap.Value{Int: int64(i)}}}}
	}
	for i := range 200 {
		v.output = append(v.output, fmt.Sprintf("line\t%d \x1b]0;é", i))
	}
	v.take(probes, globals, time.Unix(100, 0))
	return v
}

// TestFrame: whatever the window is like, it is filled and not left, and nothing that is shown moves the cursor.
func TestFrame(t *testing.T) {
	for h := range 60 {
		for _, w := range []int{0, 1, 7, 80, 300} {
			v := filled()
			for _, do := range []func(){func() {}, func() { v.hidden = true },
				func() { v.hidden, v.chosen = false, "g7" },
				func() { v.order = 3; v.skip = [panes]int{1 << 30, 1 << 30, 1 << 30} }, func() { v.asking = true }} {
				do()
				lines := v.frame(w, h)
				if len(lines) != max(h, 1) {
					t.Fatalf("%d x %d: %d lines", w, h, len(lines))
				}
				for _, l := range lines {
					if utf8.RuneCountInString(l) > w || strings.ContainsAny(l, "\x1b\n\t\r") {
						t.Fatalf("%d x %d: %q", w, h, l)
					}
				}
			}
		}
	}
}

// TestTake: rates and times are those since the last look.
func TestTake(t *testing.T) {
	v := &view{}
	look := func(hits uint64, took time.Duration, at int64) row {
		v.take([]gostap.ProbeState{{HandlerTime: gostap.HandlerTime{Hits: hits, Took: took}}}, nil, time.Unix(at, 0))
		return v.rows[0]
	}
	look(10, 100, 1)
	look(10, 100, 2)
	r := look(30, 700, 4)
	if r.rate != 10 || r.low != 10 || r.high != 30 || r.average() != 23 {
		t.Errorf("%+v, average %d", r, r.average())
	}
	if r = look(30, 700, 5); r.rate != 0 || r.high != 30 {
		t.Errorf("%+v", r)
	}
}

func TestSplit(t *testing.T) {
	if got := fmt.Sprintf("%q", split("q\x1b[Ax\x1b[5~\x1b")); got != `["q" "up" "x" "page up" "\x1b"]` {
		t.Error(got)
	}
}

// TestLog: the last lines are kept, and one that has not ended.
func TestLog(t *testing.T) {
	l := NewLog()
	for i := range 12000 {
		fmt.Fprintf(l, "a%d\nb", i)
	}
	all, lost := l.kept()
	if len(all)+lost != 12001 || len(all) > 11001 || all[len(all)-1] != "b" || all[len(all)-2] != "ba11999" {
		t.Errorf("%d kept, %d lost, %q", len(all), lost, all[len(all)-2:])
	}
}
