package compiler

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/layout"
)

// TestRealListBrief compares points alone with those that have details, which are found in another way.
func TestRealListBrief(t *testing.T) {
	dir := build(t)
	o := Options{Limits: layout.Default(), Dir: dir, SearchPath: dir}
	for _, program := range []string{"trace", "rich", "richN", "richS"} {
		for _, function := range []string{`("*")`, `("*").call`, `("*").inline`, `("*").exported`, `("*").return`,
			`("main.*")`, `("*@main.go")`, `("*")?, begin`, `("none*")`} {
			point := `process("./` + program + `").function` + function
			got, r, ds := List(context.Background(), point, o, ListOptions{})
			long, r2, ds2 := List(context.Background(), point, o, ListOptions{Details: true})
			var want []string
			for _, l := range long {
				l, _, _ = strings.Cut(l, "  # ")
				want = append(want, l)
			}
			if !slices.Equal(got, want) || messages(r, ds) != messages(r2, ds2) {
				t.Errorf("%s\ngot %d lines\n%s\nwant %d\n%s", point, len(got), messages(r, ds), len(want),
					messages(r2, ds2))
			}
			r.Close()
			r2.Close()
		}
	}
}
