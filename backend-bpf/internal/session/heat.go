package session

import (
	"fmt"
	"math"
	"time"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/price"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/probe"
)

// heat finds out once, for half a second to a second of a session, whether places that are dear are hit often:
// those where the kernel single-steps the instruction. Sessions without such places are not looked at.
type heat struct {
	over  bool
	stats int // descriptor of EnableStats
	begin time.Time
	runs  map[string]uint64 // by program
	dear  []*plan.Attach
}

const (
	// heatTime is how long hits are counted at least.
	heatTime = 400 * time.Millisecond
	// fewHits a second are not worth a measurement, hot is the part of a CPU that is.
	fewHits, hot = 2000, 0.1
)

// dearest are the programs all of whose places are known to be single-stepped: a program's hits are not counted by
// place. The kernel's return probes are cheaper than a RET.
func dearest(as []plan.Attach) []*plan.Attach {
	var out []*plan.Attach
	for i, a := range as {
		if a.Kind != probe.Uprobe || a.Table != "" || a.Probe < 0 || len(a.Sites) == 0 {
			continue
		}
		dear := true
		for _, t := range a.Sites {
			dear = dear && (t.Site.At.Insn == debuginfo.InsnStepped || t.Site.At.Insn == debuginfo.InsnRet)
		}
		if dear {
			out = append(out, &as[i])
		}
	}
	return out
}

// Look implements backend.Looker.
func (s *Session) Look() {
	h := &s.heat
	switch {
	case h.over:
	case h.runs == nil:
		if h.dear = dearest(s.plan.Attach); !s.cfg.Heat || s.cfg.Warnf == nil || len(h.dear) == 0 {
			h.over = true
			return
		}
		var err error
		if h.stats, err = kern.EnableStats(); err != nil {
			h.over = true
			return
		}
		h.runs, h.begin = s.runs(), time.Now()
	case time.Since(h.begin) >= heatTime:
		took, runs := time.Since(h.begin), s.runs()
		s.stopHeat()
		most, hits := (*plan.Attach)(nil), uint64(0)
		for _, a := range h.dear {
			if n := runs[a.Prog] - h.runs[a.Prog]; n > hits {
				most, hits = a, n
			}
		}
		rate := float64(hits) / took.Seconds()
		if rate < fewHits {
			return
		}
		if p, err := s.Prices(); err == nil {
			if text := heated(s.plan.Program.Probes[most.Probe].Name, rate, p); text != "" {
				s.cfg.Warnf("%s", text)
			}
		}
	}
}

// heated says what hits of a probe take, "" if that is little.
func heated(name string, rate float64, p backend.Prices) string {
	part := rate * p.Stepped.Seconds()
	if part < hot {
		return ""
	}
	return fmt.Sprintf("%s: %.0f hits a second at %.1f us each, where the kernel has to single-step an instruction, "+
		"take %.0f %% of a CPU", name, math.Round(rate), float64(p.Stepped.Nanoseconds())/1000, 100*part)
}

// runs are how often the dear programs have run.
func (s *Session) runs() map[string]uint64 {
	out := map[string]uint64{}
	for _, a := range s.heat.dear {
		if st, err := kern.ProgInfo(s.col.Progs[a.Prog].FD()); err == nil {
			out[a.Prog] = st.RunCount
		}
	}
	return out
}

// stopHeat ends the counting.
func (s *Session) stopHeat() {
	if !s.heat.over && s.heat.runs != nil {
		kern.Close(s.heat.stats)
	}
	s.heat.over = true
}

// Prices implements backend.Pricer.
func (s *Session) Prices() (backend.Prices, error) { return price.Of(s.cfg.Cache) }
