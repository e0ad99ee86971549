package family

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/probe"
)

// session resolves begin, end, error and never.
func session(m *match) []*probe.Site {
	c := &m.req.Comps[0]
	s := &probe.Site{Kind: map[string]probe.Kind{"begin": probe.Begin, "end": probe.End, "error": probe.ErrorEnd,
		"never": probe.Never}[c.Name]}
	if c.Arg != nil {
		s.Priority = c.Arg.Num
	}
	return []*probe.Site{s}
}

// units are the timers that name their period. A period of 0 is the kernel's tick.
var units = []struct {
	name string
	unit time.Duration
}{
	{"s", time.Second}, {"sec", time.Second}, {"ms", time.Millisecond}, {"msec", time.Millisecond},
	{"us", time.Microsecond}, {"usec", time.Microsecond}, {"ns", time.Nanosecond}, {"nsec", time.Nanosecond},
	{"jiffies", 0},
}

// The periods that timers can have.
const (
	shortest  = 100 * time.Microsecond
	longest   = 24 * time.Hour
	mostTicks = 1_000_000
)

// timer resolves timer.UNIT(N)[.randomize(M)] and timer.hz(N).
func timer(m *match) []*probe.Site {
	c := &m.req.Comps[1]
	n := c.Arg.Num
	if n <= 0 {
		m.errorf(c, "the number must be positive")
		return nil
	}
	s := &probe.Site{Kind: probe.Timer}
	if c.Name == "hz" {
		if n > int64(time.Second/shortest) {
			m.errorf(c, "more than %d events a second", time.Second/shortest)
			return nil
		}
		s.Timer.Period = time.Duration(int64(time.Second) / n)
		return []*probe.Site{s}
	}
	var unit time.Duration
	for _, u := range units {
		if u.name == c.Name {
			unit = u.unit
		}
	}
	switch {
	case unit == 0 && n > mostTicks:
		m.errorf(c, "the period is longer than %d ticks", mostTicks)
		return nil
	case unit == 0:
		unit = tick()
	case n > int64(longest/unit):
		m.errorf(c, "the period is longer than a day")
		return nil
	case time.Duration(n)*unit < shortest:
		m.errorf(c, "the period is shorter than 100 microseconds")
		return nil
	}
	s.Timer.Period = time.Duration(n) * unit
	if r := m.at("randomize"); r != nil {
		if r.Arg.Num < 0 || r.Arg.Num > n {
			m.errorf(r, "the deviation must not be negative or above the period of %d", n)
			return nil
		}
		s.Timer.Jitter = time.Duration(r.Arg.Num) * unit
	}
	return []*probe.Site{s}
}

// input resolves the probes on the tracer's standard input.
func input(m *match) []*probe.Site {
	if m.has("char") {
		return []*probe.Site{{Kind: probe.InputChar, Point: "input.char"}}
	}
	return []*probe.Site{{Kind: probe.InputLine, Point: "input.line"}}
}

// profile resolves timer.profile.
func profile(m *match) []*probe.Site { return []*probe.Site{{Kind: probe.Profile}} }

// tick is the length of a jiffy: the resolution of the coarse clocks, which count ticks.
func tick() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &ts); err != nil || ts.Nano() <= 0 {
		return 4 * time.Millisecond // CONFIG_HZ=250, what distributions use
	}
	return time.Duration(ts.Nano())
}
