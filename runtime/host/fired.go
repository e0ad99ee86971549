package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// mostUnfired bounds the lines about probe points that never fired.
const mostUnfired = 10

// unfired tells which probe points of the script no handler ran for, a line each as the script has them. Of points
// that one handler serves (system calls) it is not known which ran; they are told when none did.
func (r *run) unfired() {
	f, ok := r.Session.(backend.Firer)
	if !ok || r.Program == nil {
		return
	}
	if _, known := f.Fired(0); !known {
		return // nobody asked
	}
	type point struct {
		name   string
		places int
		fired  bool
	}
	var points []*point
	byName := map[string]*point{}
	for i, pr := range r.Program.Probes {
		if strings.HasSuffix(pr.Name, " (entry)") {
			continue
		}
		fired, known := f.Fired(i)
		for _, s := range pr.Sites {
			if s.Kind.OnHost() || s.Kind.Class() == probe.File {
				continue
			}
			name := cmp.Or(s.Alias, pr.Name)
			p := byName[name]
			if p == nil {
				p = &point{name: name}
				byName[name], points = p, append(points, p)
			}
			p.places++
			p.fired = p.fired || fired || !known
		}
	}
	points = slices.DeleteFunc(points, func(p *point) bool { return p.fired })
	for i, p := range points {
		if i == mostUnfired {
			fmt.Fprintf(r.Stderr, "%d other probe points never fired\n", len(points)-i)
			return
		}
		places := ""
		if p.places > 1 {
			places = fmt.Sprintf(" (%d places)", p.places)
		}
		fmt.Fprintf(r.Stderr, "never fired: %s%s\n", diag.Visible(p.name), places)
	}
}
