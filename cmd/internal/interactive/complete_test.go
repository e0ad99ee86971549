package interactive

import (
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler"
)

// library is a Command with a small library; what it is not asked here is nil.
type library struct{ Command }

func (library) Library(_ []string, what compiler.Listing) ([]string, error) {
	return map[compiler.Listing][]string{
		compiler.Functions:    {"pid:long ()", "print_stack (a:string)", "__own:long ()"},
		compiler.ProbeTypes:   {"begin", "process(string).function(string)", "process(string).function(string).return"},
		compiler.ProbeAliases: {"syscall.read = x", "syscall.readv = x", "__own = x"},
	}[what], nil
}

func (library) Points(_ []string, _, pattern string, vars bool) ([]string, error) {
	switch {
	case pattern == `process("a, {b").function("f")` && vars:
		return []string{pattern + ` $size:int $$x:y name:string -> $r:string`}, nil
	case pattern == `process("a").function("main.w*")` && !vars:
		return []string{`process("/a").function("main.work@/src/f.go:7")`}, nil
	}
	return nil, nil
}

func (library) Options() []string { return []string{"timeout", "timing", "guru"} }

// TestComplete: what is offered at the ends of lines; pending has those before.
func TestComplete(t *testing.T) {
	for _, c := range []struct {
		pending, before string
		want            []string
	}{
		{"", "ru", []string{"run"}},
		{"", "pr", []string{"private", "probe"}},
		{"", "set ti", []string{"timeout", "timing"}},
		{"", "probe sys", []string{"syscall"}},
		{"", "probe begin, syscall.read", []string{"read", "readv"}},
		{"", `probe process("x.y").fu`, []string{`function("`}},
		{"probe begin,\n", `process("a").function("main.w`, []string{"main.work"}},
		{"", `probe process("a, {b").function("f") { $s`, []string{"$size"}},
		{"", `probe process("a, {b").function("f") { na`, []string{"name"}},
		{"probe syscall.read {\n  count = 1 // }\n", "  x = co", []string{"continue", "count"}},
		{"", "probe begin { pri", []string{"print", "print_stack(", "printd", "printdln", "printf", "println"}},
		{"", "probe begin { /* pri", nil},
		{"", `probe begin { "pri`, nil},
		{"", "probe begin { @hist_l", []string{"@hist_linear(", "@hist_log("}},
		{"probe begin { }\n", "glo", []string{"global"}},
	} {
		s := &session{Config: Config{Command: library{}}, pending: c.pending}
		start, words := s.complete(c.before)
		if start < 0 || start > len(c.before) || !slices.Equal(words, c.want) {
			t.Errorf("%s%s|: from %d %q, want %q", c.pending, c.before, start, words, c.want)
		}
	}
}

// FuzzComplete: no text makes it fail.
func FuzzComplete(f *testing.F) {
	f.Add("", `probe process("a").function("main.w`)
	f.Add("probe begin {", `}}))"\`)
	f.Fuzz(func(t *testing.T, pending, before string) {
		s := &session{Config: Config{Command: library{}}, pending: pending}
		if start, _ := s.complete(before); start < 0 || start > len(before) {
			t.Errorf("from %d of %d", start, len(before))
		}
	})
}
