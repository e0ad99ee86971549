package cli

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ir"
)

// manyPlaces is from how many places on a session's price is told beforehand.
const manyPlaces = 1000

// price says what hits will cost where a script probes very many places at once, such as function("*"); "" for others.
func price(p *ir.Program) string {
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
		return fmt.Sprintf("%d places in programs get a probe: a hit costs about 1 us of CPU, at %d of them, where the kernel has to single-step an instruction, up to 10 us; "+
			"what is called often becomes a hundred times slower and more", user, stepped)
	case user >= manyPlaces:
		return fmt.Sprintf("%d places in programs get a probe: a hit costs about 1 us of CPU; what is called often becomes a hundred times slower and more", user)
	case kernel >= manyPlaces:
		return fmt.Sprintf("%d places in the kernel get a probe: a hit costs 0.1 to 1 us of CPU, wherever it is, and the whole machine becomes slower", kernel)
	}
	return ""
}
