package facts_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/facts"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

// TestSettle: what a program wants to know of a kernel is a number in it afterwards, in the instructions themselves
// where a register has nothing else in it.
func TestSettle(t *testing.T) {
	const text = `probe "a" {
  site tracepoint event="sched:sched_switch"
  long r0, r1, r2, r3, r4
b0:
  r0 = tracearg 1
  r1 = offset 40 "member struct~task_struct pid 4s"
  r2 = add r0, r1
  r3 = load4sk r2
  r4 = offset 8 "size struct~x"
  r4 = add r4, 1
  print "%d %d\n"(r3, r4)
  branch r1, b1, b1
b1:
  end
}
`
	p := irtest.Parse(t, text)
	if again := irtest.Parse(t, p.String()); again.String() != p.String() {
		t.Errorf("the text form is read as\n%s", again)
	}
	find := func(what string) (int64, error) {
		if strings.HasPrefix(what, "size ") {
			return 0, errors.New("it has no struct x")
		}
		return 2336, nil
	}
	ds := facts.Settle(p, "6.1", false, find)
	if d := diagtest.Find(t, ds, facts.Code); d.Message != "not in the kernel 6.1: it has no struct x" || len(ds) != 1 {
		t.Errorf("%d messages: %s", len(ds), d.Message)
	}
	if err := ir.Verify(p); err != nil {
		t.Error(err)
	}
	got := p.String()
	for _, want := range []string{"r2 = add r0, 2336\n", "branch 2336,", "r4 = mov 0\n", "r4 = add r4, 1\n"} {
		if !strings.Contains(got, want) || strings.Contains(got, "offset") {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}
