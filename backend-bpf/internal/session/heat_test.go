package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/runtime/wire"
)

// TestHeat: a place that is single-stepped and hit often is told once; one that is emulated, or hardly hit, is not,
// nor where nobody asked.
func TestHeat(t *testing.T) {
	for _, c := range []struct {
		name      string
		insn      debuginfo.Insn
		asked, on bool
		want      int
	}{
		{"hot", debuginfo.InsnRet, true, true, 1},
		{"emulated", debuginfo.InsnPush, true, true, 0},
		{"not asked", debuginfo.InsnRet, false, true, 0},
		{"not hit", debuginfo.InsnRet, true, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			s, p, _ := setup(t, func(cfg *Config) {
				cfg.Heat = c.asked
				cfg.Warnf = func(format string, args ...any) {
					// On a busy machine the verifier's time is told as well.
					if s := fmt.Sprintf(format, args...); !strings.Contains(s, "verifier") {
						said = append(said, s)
					}
				}
				for _, a := range cfg.Plan.Attach[0].Sites {
					a.Site.At.Insn = c.insn
				}
			})
			if err := s.Attach(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.SetState(wire.Running)
			s.Look()
			if counts := s.heat.runs != nil; counts != (c.asked && c.insn == debuginfo.InsnRet) {
				t.Errorf("runs are counted: %v", counts)
			}
			// Calls per second are as many as the machine gives; what they take of a CPU is computed from the two.
			for begin := time.Now(); time.Since(begin) < heatTime; {
				if c.on {
					p.run(t, 2000)
				} else {
					time.Sleep(10 * time.Millisecond)
				}
			}
			s.Look()
			s.Look()
			if !c.on || c.want == 0 {
				if len(said) != 0 {
					t.Errorf("%q", said)
				}
			} else if len(said) > 1 || len(said) == 1 && !strings.Contains(said[0], "hits a second at ") {
				t.Errorf("%q", said)
			}
			t.Logf("%q", said)
			if !s.heat.over {
				t.Error("the counting goes on")
			}
		})
	}
}

func TestHeated(t *testing.T) {
	p := backend.Prices{Emulated: time.Microsecond, Stepped: 10600 * time.Nanosecond}
	if got, want := heated("p", 81000, p),
		"p: 81000 hits a second at 10.6 us each, where the kernel has to single-step an instruction, "+
			"take 86 % of a CPU"; got != want {
		t.Errorf("%q", got)
	}
	if got := heated("p", 9000, p); got != "" {
		t.Errorf("%q", got)
	}
}

func TestDearest(t *testing.T) {
	pl := handmade(t, traceable(t))
	sites := pl.Attach[0].Sites
	for _, c := range []struct {
		a, b debuginfo.Insn
		want int
	}{{debuginfo.InsnRet, debuginfo.InsnStepped, 1}, {debuginfo.InsnRet, debuginfo.InsnJump, 0},
		{debuginfo.InsnRet, debuginfo.InsnUnknown, 0}, {debuginfo.InsnPush, debuginfo.InsnNop, 0}} {
		sites[0].Site.At.Insn, sites[1].Site.At.Insn = c.a, c.b
		if got := dearest([]plan.Attach{pl.Attach[0]}); len(got) != c.want {
			t.Errorf("%v and %v: %d", c.a, c.b, len(got))
		}
	}
}
