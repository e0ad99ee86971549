package tools

import (
	"regexp"
	"strings"
	"testing"
)

// outside are functions whose text comes from programs: it is printed with escapes.
var outside = regexp.MustCompile(`\b(execname|pexecname|task_execname|pid2execname|cmdline_\w+|user_string\w*|` +
	`kernel_string\w*|env_var|d_name)$`)

// TestEscapes: in print statements of tools, texts of programs stand within text_str.
func TestEscapes(t *testing.T) {
	for s, want := range map[string]string{`"%s (", execname())`: "execname",
		`"%s", text_str(a . execname())) execname()`: "", `text_str(a), user_string($b))`: "user_string", `kernel_string_quoted(x))`: ""} {
		if got := unescaped(s); got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
	for _, tool := range All() {
		for _, start := range regexp.MustCompile(`\bprint(f|ln)?\(`).FindAllStringIndex(tool.Source, -1) {
			if bad := unescaped(tool.Source[start[1]:]); bad != "" {
				line := 1 + strings.Count(tool.Source[:start[0]], "\n")
				t.Errorf("%s:%d: %s() is printed as it is; text_str(...) writes escapes", tool.File, line, bad)
			}
		}
	}
}

// unescaped gives the first function of outside in the arguments of a call, up to its closing parenthesis, that no
// text_str and no comparison is around.
func unescaped(s string) string {
	names := []string{"print"}
	safe := 0 // how many of names are functions that make texts safe
	is := func(name string) bool {
		return strings.HasPrefix(name, "text_str") || strings.HasSuffix(name, "_quoted")
	}
	for i := 0; i < len(s) && len(names) > 0; i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '(':
			name := regexp.MustCompile(`\w*$`).FindString(s[:i])
			if outside.MatchString(name) && safe == 0 && !strings.HasSuffix(name, "_quoted") {
				return name
			}
			if is(name) {
				safe++
			}
			names = append(names, name)
		case ')':
			if is(names[len(names)-1]) {
				safe--
			}
			names = names[:len(names)-1]
		}
	}
	return ""
}

// TestValues: values become what the script gets, or are refused.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		in, want string // "" is refused
		targeted bool
	}{
		{Number, "7", "7", false}, {Number, "-3", "-3", false}, {Number, "x", "", false}, {PID, "0", "", false},
		{Time, "5ms", "5000000", false}, {Time, "2", "2000000000", false}, {Time, "-1s", "", false},
		{Size, "4k", "4096", false}, {Size, "1M", "1048576", false}, {Size, "-1", "", false},
		{Program, "/bin/ls", `process("/bin/ls")`, false}, {Program, "a\nb", "", false},
		{Point, "vfs_read", `kernel.function("vfs_read")`, false},
		{Point, "main.work", `process.function("main.work")`, true},
		{Point, "k:vfs_read", `kernel.function("vfs_read")`, true},
		{Point, "./shop:main.*", `process("./shop").function("main.*")`, false},
		{Point, "./a:ns::Class::f", `process("./a").function("ns::Class::f")`, false},
		{Point, "ns::f", `process.function("ns::f")`, true},
		{Point, "t:sched:*", `kernel.trace("sched:*")`, false},
		{Point, "syscall.read", "syscall.read", true},
		{Point, `process("a").mark("b")`, `process("a").mark("b")`, false},
		{Point, "go.goroutine.start", "go.goroutine.start", false},
		{Point, "a b } probe x {", "", false}, {Point, "", "", false},
	} {
		o := Option{Kind: c.kind, Place: "V", Default: "0", macro: "m"}
		got, err := o.Set(c.in, c.targeted)
		if got != c.want && !(c.want != "" && got == `"`+c.want+`"`) || (err == nil) != (c.want != "") {
			t.Errorf("kind %d, %q: %q, %v; want %q", c.kind, c.in, got, err, c.want)
		}
	}
}
