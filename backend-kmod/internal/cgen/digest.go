package cgen

import (
	"crypto/sha256"
	"fmt"

	"github.com/gostap/gostap/runtime/wire"
)

// Digest stands for everything that the host has to know of the translation: how records, globals and sites are
// numbered and laid out. Programs with equal digests read each other's records.
func (u *Unit) Digest() (sum [sha256.Size]byte) {
	h := sha256.New()
	args := func(list []wire.Arg) {
		for _, a := range list {
			fmt.Fprintf(h, " %d %d", a.Kind, a.Lazy)
			if a.Names != nil {
				fmt.Fprintf(h, " %q", a.Names.List)
			}
		}
	}
	for _, s := range u.Schema.Sites {
		fmt.Fprintf(h, "site %q", u.Program.Formats[s.Format].String())
		args(s.Args)
	}
	for _, c := range u.Schema.Captures {
		fmt.Fprintf(h, "capture %d %v", c.Probe, c.Faults)
		args(c.Args)
	}
	for _, g := range u.Globals {
		fmt.Fprintf(h, "global %v", g)
	}
	for _, s := range u.Sites {
		fmt.Fprintf(h, "place %d %q", s.Probe, s.Site.Point)
	}
	fmt.Fprintf(h, "%q %v %v", u.Files, u.HostProbes, u.Called)
	h.Sum(sum[:0])
	return sum
}
