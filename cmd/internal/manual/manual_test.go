package manual

import (
	"slices"
	"strings"
	"testing"
)

// ask gives what "gostap help" with these arguments says.
func ask(args ...string) (status int, out, errs string) {
	var o, e strings.Builder
	status = Run(args, Config{
		Usage:    "options:\n  -C, --summary           a table\n                          of calls\n",
		Commands: []string{"profile"}, Help: func(c string) string { return "usage of " + c + "\n" },
		Out: &o, Err: &e})
	return status, o.String(), e.String()
}

// TestNames: each kind of thing is found by its name, as a user would type it.
func TestNames(t *testing.T) {
	for _, c := range []struct{ ask, want string }{
		{"", "documents\n"},
		{"", "The script language"},
		{"language", "# "},
		{"language.md", "A script says"},
		{"strlen", "strlen (function, docs/tapsets.md)\n"},
		{"strlen()", "strlen:long (s:string)"},
		{"text_str", "text_str (function"},
		{"choose_defined", "@choose_defined (macro"},
		{"@choose_defined", "@choose_defined (macro"},
		{"syscall.open", "syscall.open (alias, docs/tapsets.md)\n"},
		{"go.mutex", "go.mutex.wait"},
		{"timer.profile", "on every CPU"},
		{`kernel.function("vfs_read")`, "where a function of the kernel is entered"},
		{"begin", "once, before the others"},
		{"aggregates", "Aggregates (section, docs/language.md)\n"},
		{"not-live", "not-live (message, docs/errors.md)\n"},
		{"opensnoop", "gostap opensnoop - "},
		{"profile", "usage of profile\n"},
		{"-C", "-C, --summary           a table\n                          of calls\n"},
		{"--summary", "a table"},
		{"@count", "@count"},
		{"$$parms", "$$parms"},
		{"limit", "`limit n` takes the first n"},
		{"-k stack frame", "gostap help NAME"},
		{"-k strlen", "strlen (function)\n"},
		{"latency of a goroutine", "nothing is called"},
		{"--help", "usage: gostap help"},
	} {
		if status, out, errs := ask(strings.Fields(c.ask)...); status != 0 || !strings.Contains(out, c.want) &&
			c.want != "# " || errs != "" {
			t.Errorf("help %s: status %d, no %q in\n%s%s", c.ask, status, c.want, out, errs)
		}
	}
	for _, c := range []struct{ ask, want string }{
		{"langauge", "did you mean language?"},
		{"strlenn", "did you mean strlen?"},
		{"--sumary", "did you mean --summary?"},
		{"-k", "-k needs a word"},
		{"-k qqqqqq", "fewer words find more"},
		{"qqqqqqqq", `there is no help on "qqqqqqqq"`},
		{"\x1b[31mred", "gostap help lists"},
	} {
		status, out, errs := ask(strings.Fields(c.ask)...)
		if status != 1 || !strings.Contains(errs, c.want) || strings.Contains(out+errs, "\x1b") {
			t.Errorf("help %s: status %d, no %q in\n%q%q", c.ask, status, c.want, out, errs)
		}
	}
}

// TestAllNamed: whatever the documents tell of is found by its name, and each of its texts is printed.
func TestAllNamed(t *testing.T) {
	kinds := map[string]int{}
	for _, e := range entries() {
		kinds[e.kind]++
		if strings.TrimSpace(e.text) == "" || e.name == "" {
			t.Errorf("%s %q of %s has no text", e.kind, e.name, e.page)
		}
		if !slices.ContainsFunc(named(e.name), func(f entry) bool { return f.text == e.text }) {
			t.Errorf("%s %q of %s is not found by its name", e.kind, e.name, e.page)
		}
	}
	for kind, least := range map[string]int{"page": 20, "section": 100, "function": 500, "macro": 1, "alias": 1000,
		"probe point": 30, "message": 100} {
		if kinds[kind] < least {
			t.Errorf("only %d entries are a %s", kinds[kind], kind)
		}
	}
}
