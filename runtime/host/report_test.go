package host

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// counting is a session of which only the counts are looked at.
type counting struct {
	backend.Session
	c wire.Counters
}

func (s *counting) Counters() (wire.Counters, error) { return s.c, nil }

// TestReport: each cause is told by itself with its number, and none is told that did not happen.
func TestReport(t *testing.T) {
	for cause := range int(ir.NumCauses) {
		if ir.Cause(cause) == ir.SkipStopping {
			continue
		}
		if causeText[cause] == "" {
			t.Errorf("cause %d has no words", cause)
		}
		for _, onHost := range []bool{false, true} {
			var errs bytes.Buffer
			s := &counting{c: wire.Counters{ByCause: make([]uint64, ir.NumCauses)}}
			h := &hosted{}
			if onHost {
				h.skips[cause] = 7
			} else {
				s.c.ByCause[cause] = 7
			}
			r := &run{Config: Config{Session: s, Stderr: &errs}, hosted: h, out: newOutput(nil, &errs, &errs, nil)}
			res := &Result{}
			r.finish(res)
			if got := errs.String(); strings.Count(got, "WARNING: 7 ") != 1 ||
				!strings.Contains(got, causeText[cause]) || res.Lost != 7 {
				t.Errorf("cause %d: %q, %d", cause, got, res.Lost)
			}
		}
	}
	var errs bytes.Buffer
	r := &run{Config: Config{Session: &counting{}, Stderr: &errs}, hosted: &hosted{},
		out: newOutput(nil, &errs, &errs, nil)}
	if r.finish(&Result{}); errs.Len() != 0 {
		t.Errorf("nothing happened: %q", errs.String())
	}
}
