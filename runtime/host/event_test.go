package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/host/memory"
)

// inspected is a program whose prints have heads, as the compiler makes it for those who want values.
func inspected(t *testing.T) *ir.Program {
	t.Helper()
	head := (&ir.Format{Pieces: []ir.Piece{ir.Conv('s'), ir.Literal(" "),
		{Conv: 'x', Width: -1, Prec: -1, WidthArg: true}, ir.Literal("\n")}}).Headed(nil)
	p, err := ir.ParseText(fmt.Sprintf(`global n long shown
probe "begin" {
  site begin
b0:
  gset @n, 7
  print %q(11, 12, 13, "begin", "a", 4, 255)
  print "loose"()
  intr warn("look out")
  intr exit()
  end
}
`, head.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Globals[0].Shown || !strings.Contains(p.String(), "global n long shown") || !p.Formats[0].IsHeaded() ||
		p.Formats[1].IsHeaded() {
		t.Fatalf("the text form lost something:\n%s", p)
	}
	return p
}

// TestEvents: prints come with their arguments and their heads, in one order with all else, and the globals are
// there at the end.
func TestEvents(t *testing.T) {
	p := inspected(t)
	s, err := memory.New(p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	n := int64(0)
	res := Run(context.Background(), Config{Program: p, Session: s, Ended: func() {
		v, _, _ := s.Store().Get(0, nil)
		n = v.Int
	}, Event: func(e *Event) error {
		got = append(got, fmt.Sprintf("%d %q %q %v %d %d %d %s", e.Kind, e.Text, e.Format, e.Args, e.Pid, e.Tid, e.Time,
			e.Point))
		return nil
	}})
	want := []string{
		fmt.Sprintf("%d %q %q %v 11 12 13 begin", EventPrint, "a   ff\n", "%s %*x\n",
			[]Arg{{Conv: 's', Text: "a"}, {Conv: 'd', Int: 4}, {Conv: 'x', Int: 255}}),
		fmt.Sprintf("%d %q %q %v 0 0 0 ", EventPrint, "loose", "loose", []Arg(nil)),
		fmt.Sprintf("%d %q %q %v 0 0 0 ", EventWarning, "look out", "", []Arg(nil)),
	}
	if res.Err != nil || n != 7 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("error %v, n is %d, events\n%s\nwant\n%s", res.Err, n, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// TestHeadless: as text such a program prints what it would without heads.
func TestHeadless(t *testing.T) {
	p := inspected(t)
	s, err := memory.New(p)
	if err != nil {
		t.Fatal(err)
	}
	var out, messages strings.Builder
	if res := Run(context.Background(),
		Config{Program: p, Session: s, Stdout: &out, Stderr: &messages}); res.Err != nil {
		t.Fatal(res.Err)
	}
	if out.String() != "a   ff\nloose" || messages.String() != "WARNING: look out\n" {
		t.Errorf("printed %q and %q", &out, &messages)
	}
}

// TestEventError: whoever takes events ends the session by an error, or by a panic, and hears no more.
func TestEventError(t *testing.T) {
	mine := errors.New("enough")
	for _, panics := range []bool{false, true} {
		p := inspected(t)
		s, err := memory.New(p)
		if err != nil {
			t.Fatal(err)
		}
		calls, ended := 0, false
		var got any
		func() {
			defer func() {
				if panics {
					got = recover()
				}
			}()
			res := Run(context.Background(), Config{Program: p, Session: s, Ended: func() { ended = true },
				Event: func(*Event) error {
					if calls++; panics {
						panic(mine)
					}
					return mine
				}})
			got = res.Err
		}()
		if got != any(mine) || calls != 1 || !ended {
			t.Errorf("got %v after %d events, ended: %v", got, calls, ended)
		}
	}
}
