package gather

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/runtime/export/record"
)

// TestOrder: lines of machines whose clocks differ by an hour come in the order in which things happened, also those
// that come late; what comes later than lines are held back stands behind, and is counted.
func TestOrder(t *testing.T) {
	zero := time.Now().Add(-time.Minute)
	for _, late := range []bool{false, true} {
		var out, told bytes.Buffer
		s := New(&out, false, true, func(text string) { fmt.Fprintln(&told, text) })
		s.InOrder(time.Hour)
		s.Begin(&record.Session{Time: zero})
		var sources []*Source
		var enc []*jsonlines.Encoder
		ahead := []time.Duration{0, time.Hour, -time.Minute}
		for i, a := range ahead {
			r := s.Source(named(fmt.Sprint("m", i)))
			r.Clock(a, time.Duration(i)*time.Millisecond)
			e := new(jsonlines.Encoder)
			r.Write(e.Begin(nil, &record.Session{Version: "1", Host: "h", Kernel: "6", Script: "s", Time: zero.Add(a)}))
			sources, enc = append(sources, r), append(enc, e)
		}
		say := func(i, at int) {
			rec := &record.Record{Kind: record.Print, Text: fmt.Sprintf("%03d\n", at), CPU: -1,
				Time: zero.Add(ahead[i] + time.Duration(at)*time.Millisecond)}
			b := enc[i].Append(nil, rec)
			// What has no time stays behind what has.
			sources[i].Write(enc[i].Append(b, &record.Record{Kind: record.Text, Text: fmt.Sprintf("%03d+\n", at)}))
		}
		for _, i := range []int{2, 0, 1} { // the whole of one machine after the other
			for at := i; at < 300; at += 3 {
				say(i, at)
			}
		}
		if late {
			s.order.hold = 0
			say(0, 299) // what was held back has been long enough
			say(1, 1)
		}
		for i, r := range sources {
			r.Write(enc[i].End(nil, &record.End{Time: zero.Add(ahead[i] + time.Second)}))
			r.End(0)
		}
		if err := s.End(0); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, l := range checked(t, out.Bytes()) {
			if text, ok := l["text"].(string); ok {
				texts = append(texts, text)
			}
		}
		if !strings.Contains(out.String(), `"clock_ahead_ns":3600000000000,"clock_within_ns":1000000`) {
			t.Errorf("the clock is not told: %.1000s", &out)
		}
		for at := range 300 {
			if n := 2 * at; texts[n] != fmt.Sprintf("%03d\n", at) || texts[n+1] != fmt.Sprintf("%03d+\n", at) {
				t.Fatalf("line %d is %q %q", n, texts[n], texts[n+1])
			}
		}
		if !strings.Contains(told.String(), "right within 2ms: so well the clocks of 3 machines are known") ||
			strings.Contains(told.String(), " lines came more than") != late {
			t.Errorf("%s", &told)
		}
	}
}
