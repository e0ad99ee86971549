package grammar

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/source"
)

// hostile texts try to make the reader hang, overflow the stack or fill memory.
// Each is repeated up to the size given.
var hostile = []struct{ name, begin, repeat, end string }{
	{"parens", "probe x { ", "(", ""},
	{"closed parens", "probe x { a = ", "(a", ""},
	{"blocks", "probe x { ", "{", ""},
	{"ifs", "probe x { ", "if (a) ", ""},
	{"else ifs", "probe x { if (a) b ", "else if (a) b; ", "}"},
	{"elses", "probe x { ", "else ", ""},
	{"ternaries", "probe x { a = ", "a ? ", ""},
	{"ternary chain", "probe x { a = ", "a ? b : ", "c }"},
	{"assigns", "probe x { ", "a = ", "b }"},
	{"sum", "probe x { a", " + a", " }"},
	{"minus", "probe x { a = ", "- ", "a }"},
	{"steps", "probe x { a", "[a]", " }"},
	{"arrows", "probe x { a", "->a", " }"},
	{"strings", "probe x { a = ", `"a"`, " }"},
	{"bad strings", "probe x { a = ", `"\x" + `, " }"},
	{"statements", "probe x { ", "a(1);", " }"},
	{"assigning tests", "probe x { ", "if (a = 1);", " }"},
	{"groups", "probe ", "{", ""},
	{"points", "probe a", ",a.b", " {}"},
	{"names", "probe a", "*a", " {}"},
	{"probes", "", "probe a{}", ""},
	{"bad probes", "", "probe )", ""},
	{"globals", "global a", ",a", ""},
	{"conditions", "", `%( 1 == 1 %? `, ""},
	{"conditions and globals", "", `%( 1 == 1 %? global a `, ""},
	{"false conditions", "", `%( 1 == 2 %? `, ""},
	{"tests", "%( 1 == 1", ` && 1 == 1`, ""},
	{"open macros", "@define m(a) %( @a %) probe x { ", "@m(", ""},
	{"many macros", "@define m(a) %( @a @a %) probe x { ", "@m(a) ", "}"},
	{"empty macros", "@define m %( %) probe x { ", "@m ", "}"},
	{"doubling", "@define m(a) %( @a @a %) probe x { " + strings.Repeat("@m(", 100) + "a" + strings.Repeat(")", 100),
		" ", "}"},
	{"long argument", "@define m(a) %( " + strings.Repeat("@a ", 5000) + "%) probe x { @m(", " ", ") }"},
	{"definitions", "", "@define m%( %)", ""},
	{"open comment", "probe x {} /*", "*", ""},
	{"open embedded", "%{", "%", ""},
	{"junk", "probe x { ", "\x00\xff", ""},
	{"accents", "probe x { # ", "\u00e9", ""},
	{"digits", "probe x { ", "9", "}"},
	{"letters", "probe x { ", "a", "}"},
	{"dollars", "probe x { ", "$", "}"},
	{"arguments", "probe x { ", "$1 ", "}"},
	{"spaces", "", " ", ""},
	{"lines", "", "\n", "x"},
	{"lists", "probe x { ", "[", ""},
	{"foreach", "probe x { ", "foreach (a in b) ", ""},
	{"unknown macros", "probe x { ", "@mm ", "}"},
	{"elif", "probe x { ", "elif (a) {}", "}"},
	{"list", "probe x { [a", ",a", "] in b }"},
	{"at", "probe x { ", "@count(", "}"},
	{"deref", "probe x { a = ", "*", "}"},
}

func TestHostile(t *testing.T) {
	size := 200 << 10
	if n, err := strconv.Atoi(os.Getenv("GOSTAP_HOSTILE")); err == nil {
		size = n << 10 // kB; for a look at larger texts
	}
	for _, h := range hostile {
		text := h.begin + strings.Repeat(h.repeat, max(1, (size-len(h.begin)-len(h.end))/len(h.repeat))) + h.end
		runtime.GC()
		start := cpuTime(t)
		fs := new(source.FileSet)
		f, l := Parse(fs.Add("x.stp", []byte(text)), Options{Files: fs, Args: []string{strings.Repeat("a ", 100)}})
		took := cpuTime(t) - start
		if len(l) > 250 {
			t.Errorf("%s: %d messages", h.name, len(l))
		}
		if !l.HasErrors() {
			var b strings.Builder
			printInto(&b, f)
		}
		s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
		metrics.Read(s)
		mem := s[0].Value.Uint64() >> 20
		if took > 10*time.Second {
			t.Errorf("%s: took %v", h.name, took)
		}
		if mem > 1<<10 {
			t.Errorf("%s: %d MB", h.name, mem)
		}
		Index([]byte(text))
		if os.Getenv("GOSTAP_HOSTILE") != "" {
			first := ""
			if len(l) > 0 {
				first = l[0].Message
			}
			t.Logf("%-25s %8v %5d MB  %d decls %d msgs %s", h.name, took.Round(time.Millisecond), mem, len(f.Decls),
				len(l), first)
		}
	}
}
