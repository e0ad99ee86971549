package ir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine"
)

// TestRoundTrip: the programs of testdata are written as String writes them, and verify.
func TestRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ir")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParseText(string(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if err := Verify(p); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if got := p.String(); got != string(data) {
			t.Errorf("%s: printed back as\n%s", file, got)
		}
	}
}

func TestParseTextErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"machine vax", "line 1: no machine is called vax"},
		{"globl x long", `line 1: expected limits, locks, global, prelude, code, func or probe, found "globl"`},
		{"global x long\nglobal x long", "line 2: global x is there already"},
		{"limits MAXFOO=3", "line 1: no limit is called MAXFOO"},
		{"func f() {\nb0:\n  return", "line 3: } is missing"},
		{"func f() {\nb0:\n}", "line 3: the last block does not end"},
		{"func f() {\nb1:\n  return\n}", "line 2: expected b0, found b1"},
		{"func f() {\nb0:\n  return\n  return\n}", "line 4: the block has ended"},
		{"func f() {\n  long r1\nb0:\n  return\n}", "line 5: register r1 is declared but one below it is not"},
		{"func f() {\nb0:\n  r0 = frob 1\n}", `line 3: unknown operation "frob"`},
		{"func f() {\nb0:\n  gset @x, 1\n}", "line 3: no global is called x"},
		{"func f() {\nb0:\n  print \"%q\"()\n}", `line 3: unknown conversion "%q" at byte 1`},
		{"func f() {\nb0:\n  fail nothing()\n}", `line 3: unknown error "nothing"`},
		{"func f() {\nb0:\n  r0 = mov \"abc\n}", "line 3: unfinished string"},
		{"func f() {\nb0:\n  r0 = mov 1 2\n}", `line 3: unexpected "2"`},
		{"probe \"x\" {\n  site nowhere\n}", `line 2: unknown kind of site "nowhere"`},
		{"global a long [long,]", "line 1: expected a word, found \"]\""},
	} {
		_, err := ParseText(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzParseText: what parses prints to a text that parses to the same text; Verify never panics.
func FuzzParseText(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.ir")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(handler("b0:\n r0 = load4 0 !b1\n end\nb1:\n r2 = errmsg\n end\n"))
	f.Add("func f(r0) long {\n long r0\nb0:\n r0 = call f(1)\n return r0\n}")
	f.Add("probe \"x\" {\n site timer period=5\nb0:\n print \"%d\"(5)\n end\n}")
	f.Add("global g long\nprelude \"int x;\"\ncode \"f\" \"a\"(long a, string b) string pure old uses g \"rw\" " +
		"@g\ncode \"\" \"1\"() long expr\nprobe \"x\" {\n site begin\n long r0\n string r1 5\nb0:\n r1 = embed 0(1, " +
		"r1)\n r0 = embed 1()\n end\n}")
	f.Add("limits MAXACTION=5\nglobal a stats [long, string 5] size 3 hist_linear(1, 2, 3)")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseText(text)
		if err != nil {
			return
		}
		verr := Verify(p)
		once := p.String()
		q, err := ParseText(once)
		if err != nil {
			if verr == nil {
				t.Fatalf("does not parse back: %v\n%s", err, once)
			}
			return
		}
		if twice := q.String(); verr == nil && twice != once {
			t.Fatalf("not stable:\n%s\n---\n%s", once, twice)
		}
		if err := Verify(q); verr == nil && err != nil {
			t.Fatalf("verifies before printing but not after: %v\n%s", err, once)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	data, err := os.ReadFile("testdata/all.ir")
	if err != nil {
		b.Fatal(err)
	}
	p, err := ParseText(string(data))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Verify(p); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMachine: the text says which machine a program is for, where that is not the default one.
func TestMachine(t *testing.T) {
	p, err := ParseText("machine " + machine.AMD64.Arch + "\n")
	if err != nil || p.On() != machine.AMD64 {
		t.Fatalf("%v, %v", p, err)
	}
	other := *machine.AMD64
	other.Arch = "other"
	p.Machine = &other
	if got := p.String(); !strings.Contains(got, "machine other\n") {
		t.Errorf("%q", got)
	}
}
