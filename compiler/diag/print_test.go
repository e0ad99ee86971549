package diag

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gostap/gostap/compiler/source"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä € 😀\n\tx":      "plain ä € 😀\n\tx",
		"\x1b[31mred\x07":       `\033[31mred\007`,
		"a\xffb\x9bc":           `a\377b\233c`,
		"c1 \u009b31m":          `c1 \302\23331m`,
		"turned \u202eabc":      `turned \342\200\256abc`,
		"del \x7f, cr \r, \x00": `del \177, cr \015, \000`,
		"":                      "",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestHostile: whatever stands in a script and a message, nothing that acts on a terminal is printed, and the mark
// is under the character that it means, whatever the width of the screen.
func TestHostile(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	alphabet := []rune("abcdefghij  \t\x1b\x07\u009b\u202eä€\"'$")
	for range 2000 {
		n := 1 + rnd.Intn(700)
		line := make([]rune, n)
		for i := range line {
			line[i] = alphabet[rnd.Intn(len(alphabet))]
		}
		at, width := rnd.Intn(n), 1+rnd.Intn(30)
		line[at] = 'X'
		text := "first\n" + string(line) + "\nlast"
		fs := new(source.FileSet)
		f := fs.Add("s\x1b[2J.stp", []byte(text))
		from := len("first\n") + len(string(line[:at]))
		to := min(from+len(string(line[at:min(at+width, n)])), len(text))
		var b bytes.Buffer
		p := Printer{W: &b, Files: fs, Width: rnd.Intn(3) * (40 + rnd.Intn(160))}
		p.One(&Diagnostic{Severity: Error, Span: source.Span{From: f.Pos(from), To: f.Pos(to)},
			Message: "bad \x1b]0;x\x07", Hint: "do \x9b"})
		for i := 0; i < b.Len(); i++ {
			if c := b.Bytes()[i]; c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				t.Fatalf("a raw %#x in %q", c, b.String())
			}
		}
		rows := strings.Split(b.String(), "\n")
		if p.Width > 0 && !strings.Contains(rows[1], "\t") && utf8.RuneCountInString(rows[1]) > max(p.Width, 42) {
			t.Fatalf("width %d: %q", p.Width, rows[1])
		}
		caret := strings.IndexByte(rows[2], '^')
		if row := []rune(rows[1]); caret < 0 || caret >= len(row) || row[caret] != 'X' {
			t.Fatalf("width %d, column %d: the mark is not under X:\n%s", p.Width, at, b.String())
		}
		if m := strings.TrimLeft(rows[2], " \t"); p.Width > 0 && len(m) > utf8.RuneCountInString(rows[1])-caret {
			t.Fatalf("the mark is longer than the line:\n%s", b.String())
		}
	}
}

func ExamplePrinter() {
	fs := new(source.FileSet)
	line := strings.Repeat("global a ", 8) + "probe process(\"./app\").function(\"main.mian\") { println($x) }" +
		strings.Repeat(" # more", 9)
	f := fs.Add("<input>", []byte(line))
	at := strings.Index(line, ".function(")
	var b bytes.Buffer
	p := Printer{W: &b, Files: fs, Width: 80}
	p.One(&Diagnostic{Severity: Error, Span: source.Span{From: f.Pos(at + 10), To: f.Pos(at + 21)},
		Message: "no function \"main.mian\""})
	fmt.Print(b.String())
	// Output:
	// <input>:1:105: error: no function "main.mian"
	//   ...cess("./app").function("main.mian") { println($x) } # more # more # more...
	//                             ^~~~~~~~~~~
}
