package gostap

import (
	"fmt"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
)

// manyPlaces is from how many places on a session's price is told beforehand.
const manyPlaces = 1000

// prices are those of this machine if the session can tell them.
func prices(s backend.Session) backend.Prices {
	if p, ok := s.(backend.Pricer); ok {
		if m, err := p.Prices(); err == nil {
			return m
		}
	}
	return backend.UsualPrices
}

// us writes a price in microseconds.
func us(d time.Duration) string { return fmt.Sprintf("%.1f us", float64(d.Nanoseconds())/1000) }

// price says what hits will cost where a script probes very many places at once, such as function("*"); "" for
// others. Only then the prices are asked for.
func price(p *ir.Program, ask func() backend.Prices) string {
	user, stepped, kernel := 0, 0, 0
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			switch {
			case s.Kind.InUser():
				user++
				if !s.At.Insn.Emulated() {
					stepped++
				}
			case s.Kind.InKernel():
				kernel++
			}
		}
	}
	switch {
	case user >= manyPlaces && stepped > 0:
		m := ask()
		return fmt.Sprintf("%d places in programs get a probe: a hit costs about %s of CPU, at %d of them, where the "+
			"kernel has to single-step an instruction, %s; "+
			"what is called often becomes a hundred times slower and more", user, us(m.Emulated), stepped,
			us(m.Stepped))
	case user >= manyPlaces:
		return fmt.Sprintf("%d places in programs get a probe: a hit costs about %s of CPU; what is called often "+
			"becomes a hundred times slower and more", user, us(ask().Emulated))
	case kernel >= manyPlaces:
		return fmt.Sprintf("%d places in the kernel get a probe: a hit costs 0.1 to 1 us of CPU, wherever it is, and "+
			"the whole machine becomes slower", kernel)
	}
	return ""
}
