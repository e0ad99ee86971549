package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap"
)

// placesOf says how many of the places of a program are in which files, "" if it has none in files: what a
// user who waits for the first line wants to know.
func placesOf(all []gostap.Place) string {
	var names []string
	places := map[string]map[uint64]bool{}
	for _, p := range all {
		if p.Kernel {
			continue
		}
		if places[p.File] == nil {
			places[p.File] = map[uint64]bool{}
			names = append(names, p.File)
		}
		places[p.File][p.Address] = true
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
