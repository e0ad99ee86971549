package host

import (
	"time"

	"github.com/gostap/gostap/compiler/backend"
)

// timed begins to time a handler of probe i that runs here; the function that it gives ends that.
func (h *hosted) timed(i int) func() {
	if !h.c.Timing {
		return func() {}
	}
	if h.times == nil {
		h.times = make([]backend.ProbeTime, len(h.c.Program.Probes))
	}
	start := time.Now()
	return func() {
		h.times[i].Hits++
		h.times[i].Took += time.Since(start)
	}
}

// times adds up what handlers took here and in the kernel. What is run in both places counts once: a hit there leads to
// a run here.
func (r *run) times() []backend.ProbeTime {
	if !r.Timing {
		return nil
	}
	sum := make([]backend.ProbeTime, len(r.Program.Probes))
	add := func(t backend.ProbeTime) {
		sum[t.Probe].Hits = max(sum[t.Probe].Hits, t.Hits)
		sum[t.Probe].Took += t.Took
	}
	if t, ok := r.Session.(backend.Timer); ok {
		parts := make([]backend.ProbeTime, len(sum))
		for _, x := range t.Times() {
			parts[x.Probe].Hits += x.Hits
			parts[x.Probe].Took += x.Took
		}
		for i, x := range parts {
			x.Probe = i
			add(x)
		}
	}
	for i, x := range r.hosted.times {
		x.Probe = i
		add(x)
	}
	for i := range sum {
		sum[i].Probe = i
	}
	return sum
}
