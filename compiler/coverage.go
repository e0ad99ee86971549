package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// coverage has nothing to do: it is all in the elaborated program.
func (s *state) coverage() diag.List { return nil }

// dumpCoverage lists what a script uses of the library, a declaration a line, with its place and how many of its
// handlers and functions stand for it or call it.
func (s *state) dumpCoverage() string {
	count := map[string]int{}
	add := func(at source.Pos, what string) {
		if f := s.files.File(at); f != nil && f.Library {
			p := s.files.Position(at)
			count[fmt.Sprintf("%s:%d %s", p.File.Name, p.Line, what)]++
		}
	}
	for _, g := range s.prog.Globals {
		if !g.User {
			add(g.Decl.Span.From, "global "+g.Name)
		}
	}
	calls := map[string]int{}
	for _, p := range s.prog.Probes {
		for _, b := range p.Bodies {
			add(b.Span.From, "alias")
		}
		for _, f := range p.Info.Calls {
			calls[f.Name]++
		}
	}
	for _, f := range s.prog.Funcs {
		for _, g := range f.Info.Calls {
			calls[g.Name]++
		}
	}
	for _, f := range s.prog.Funcs {
		if !f.User {
			for range max(calls[f.Name], 1) {
				add(f.Decl.Span.From, "function "+f.Decl.Name.Name)
			}
		}
	}
	var lines []string
	for what, n := range count {
		lines = append(lines, fmt.Sprintf("%s %d\n", what, n))
	}
	slices.Sort(lines)
	return "# what is used of the library, and how often\n" + strings.Join(lines, "")
}
