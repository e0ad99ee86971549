package partition

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestDecide compares where handlers go, and what deferred ones are cut into, with the golden files beside the
// programs.
func TestDecide(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ir")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".ir"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			p := irtest.Parse(t, string(text))
			hs, ds := Decide(t.Context(), p, Options{Translates: func(name string) bool { return name != "ngroups" }})
			var b strings.Builder
			for _, h := range hs {
				where := [...]string{"kernel", "host", "deferred"}[h.Where]
				fmt.Fprintf(&b, "# %s: %s, sites %v", p.Probes[h.Probe].Name, where, h.IDs)
				if h.Where == Deferred {
					fmt.Fprintf(&b, ", because of %s\n# values %v\n# stub\n%s# host\n%s", h.Why, h.Values, h.Body,
						h.HostBody)
				}
				b.WriteByte('\n')
			}
			for _, d := range ds {
				fmt.Fprintf(&b, "# error: %s\n", d.Message)
				for _, n := range d.Notes {
					fmt.Fprintf(&b, "#   %s\n", n.Text)
				}
			}
			golden := strings.TrimSuffix(f, ".ir") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}

// sink collects output.
type sink struct{ strings.Builder }

func (s *sink) Print(b []byte)         { s.Write(b) }
func (s *sink) Warn(m string)          { s.WriteString("warn " + m + "\n") }
func (s *sink) Log(m string)           { s.WriteString(m + "\n") }
func (s *sink) Error(f *textfmt.Fault) { s.WriteString("error " + f.Error() + "\n") }
func (s *sink) Exit()                  { s.WriteString("exit\n") }

// TestInline runs a handler with its calls and with them inlined.
func TestInline(t *testing.T) {
	p := irtest.Parse(t, inlineProgram)
	body, err := Inline(p, p.Probes[0].Handler, p.Nesting())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range body.Blocks {
		for _, in := range b.Instrs {
			if in.Op == ir.OpCall {
				t.Errorf("a call of %s is left", in.Name)
			}
		}
	}
	run := func(inlined bool) string {
		out := &sink{}
		m, err := interp.New(p, interp.NewMemStore(p), out)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &interp.HostContext{Where: p.Probes[0].Sites[0]}
		if !inlined {
			_, err = m.Run(0, ctx)
		} else {
			n, e := m.AddBody(body)
			if e != nil {
				t.Fatal(e)
			}
			_, err = m.RunBody(n, 0, nil, ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := run(false)
	if got := run(true); got != want {
		t.Errorf("inlined:\n%s\nas written:\n%s", got, want)
	}
	for _, s := range []string{"1 4\n2 8\n", "<too l>", "caught picky", "caught MAXNESTING exceeded"} {
		if !strings.Contains(want, s) {
			t.Errorf("the test does not do what it should: no %q in\n%s", s, want)
		}
	}
}

const inlineProgram = `
limits MAXNESTING=4
global a long [long] size 10

func twice(r0) long {
  long r0, r1
b0:
  r1 = mul r0, 2
  return r1
}

func cut(r0) string 5 {
  string r0 8
b0:
  return r0
}

func count(r0) long {
  long r0, r1, r2
b0:
  r2 = mov 0
  iteropen i0 @a
  jump b1
b1:
  r1 = iternext i0 @a
  branch r1, b2, b3
b2:
  r1 = call twice(r0)
  r2 = add r2, r1
  jump b1
b3:
  return r2
}

func picky(r0) long {
  long r0
b0:
  branch r0, b1, b2
b1:
  fail user("picky")
b2:
  return 5
}

func d4() long {
  long r0
b0:
  r0 = call twice(4)
  return r0
}

func d3() long {
  long r0
b0:
  r0 = call d4()
  return r0
}

func d2() long {
  long r0
b0:
  r0 = call d3()
  return r0
}

func d1() long {
  long r0
b0:
  r0 = call d2()
  return r0
}

probe "test" {
  site begin
  long r0, r1
  string r2 20, r3 50
b0:
  mset @a[1], 1
  mset @a[2], 1
  iteropen i0 @a "k0+"
  jump b1
b1:
  r0 = iternext i0 @a
  branch r0, b2, b3
b2:
  r0 = iterkey i0 @a 0
  r1 = call count(r0)
  print "%d %d\n"(r0, r1)
  jump b1
b3:
  r2 = call cut("too long by far")
  print "<%s>\n"(r2)
  r0 = call picky(0)
  print "%d\n"(r0)
  r0 = call picky(1) !b4
  jump b5
b4:
  r3 = errmsg
  print "caught %s\n"(r3)
  jump b5
b5:
  r0 = call d2()
  print "%d\n"(r0)
  r0 = call d1() !b6
  end
b6:
  r3 = errmsg
  print "caught %s\n"(r3)
  call picky(2)
  end
}
`
