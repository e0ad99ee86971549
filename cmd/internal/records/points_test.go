package records

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/metric"
	"github.com/gostap/gostap/runtime/export/feed"
	"github.com/gostap/gostap/runtime/export/jsonlines"
)

// TestPoints: a series counts since it can have begun: the session, the moment before it came, or the one at which it
// was smaller; one for which there was no room counts since the session began.
func TestPoints(t *testing.T) {
	var out bytes.Buffer
	at := func(sec int) time.Time { return time.Unix(int64(1000+sec), 0) }
	p := newPoints(&writer{out: &out, enc: &jsonlines.Encoder{}}, at(0))
	out.WriteString(`{"type":"begin","schema":1}` + "\n")
	for sec, values := range []map[string]int64{1: {"x": 1}, 2: {"x": 2, "y": 1, "z": 7}, 3: {"y": 1, "z": 8},
		4: {"z": 3}, 5: {"x": 1, "z": 4}} {
		g := gostap.Global{Metric: &metric.Decl{Name: "n_total", Labels: []string{"k"}, Max: 2}}
		for _, k := range []string{"x", "y", "z"} {
			if v := values[k]; v > 0 {
				g.Elements = append(g.Elements, gostap.Element{Key: []gostap.Value{{Text: k, IsText: true}},
					Value: gostap.Value{Int: v}})
			}
		}
		if err := p.add(gostap.Globals{"n": g}, at(sec)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.w.pause(); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := feed.New(&out).Each(func(l *feed.Line) error {
		if l.Type == "metric" {
			got = append(got, fmt.Sprintf("%s@%d=%s since %d", l.Labels[0].Value, l.Time.Unix()-1000, l.Value,
				l.Begin.Unix()-1000))
		}
		return nil
	}, nil)
	want := "x@1=1 since 0, x@2=2 since 0, y@2=1 since 1, y@3=1 since 1, z@4=3 since 0, x@5=1 since 4, z@5=4 since 0"
	if text := strings.Join(got, ", "); err != nil || text != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}
