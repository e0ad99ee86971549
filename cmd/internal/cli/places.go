package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
)

// placesOf says in how many places of which files the probes of a program are, "" if it has none in files: what a
// user who waits for the first line wants to know.
func placesOf(p *ir.Program) string {
	var names []string
	places := map[string]map[uint64]bool{}
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if !s.Kind.InUser() {
				continue
			}
			if places[s.Path] == nil {
				places[s.Path] = map[uint64]bool{}
				names = append(names, s.Path)
			}
			places[s.Path][s.At.PC] = true
		}
	}
	var parts []string
	for i, n := range names {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d more files", len(names)-i))
			break
		}
		what := "places"
		if len(places[n]) == 1 {
			what = "place"
		}
		parts = append(parts, fmt.Sprintf("%d %s in %s", len(places[n]), what, filepath.Base(n)))
	}
	return strings.Join(parts, ", ")
}
