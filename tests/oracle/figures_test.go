package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// record is a Reporter that keeps what it is told.
type record struct{ logs, errors []string }

func (r *record) Helper()                      {}
func (r *record) Logf(f string, args ...any)   { r.logs = append(r.logs, fmt.Sprintf(f, args...)) }
func (r *record) Errorf(f string, args ...any) { r.errors = append(r.errors, fmt.Sprintf(f, args...)) }

// TestFigures: something wrong and too little compared both fail, and the reasons are printed.
func TestFigures(t *testing.T) {
	var f, g Figures
	f.Equal(3)
	f.Refused("float")
	g.Refused("float")
	g.Note("neither side reads it", 2)
	f.Add(&g)
	var r record
	f.Report(&r, 5)
	if len(r.errors) != 0 || r.logs[0] != "compared 5, equal 3, refused 2, wrong 0\n  refused: float: 2\n  not "+
		"compared: neither side reads it: 2" {
		t.Errorf("%q %q", r.logs, r.errors)
	}
	f.Wrong("%s is %d", "x", 7)
	r = record{}
	f.Report(&r, 7)
	if len(r.errors) != 2 || !strings.Contains(r.errors[0], "only 6") || r.errors[1] != "wrong: x is 7" {
		t.Errorf("%q", r.errors)
	}
	for i := range 2 * shown {
		f.Wrong("gcc: number %d: 1, it is 2", i%2)
	}
	r = record{}
	f.Report(&r, 0)
	if n := len(r.errors); n != shown+2 || r.errors[n-2] != "wrong, 20 more: gcc: number 0" ||
		r.errors[n-1] != "wrong, 21 more: gcc: number 1" {
		t.Errorf("%d: %q", n, r.errors[n-2:])
	}
}

// TestSeeds: the two forms differ by number only, and the environment names others.
func TestSeeds(t *testing.T) {
	t.Setenv("GOSTAP_SEED", "")
	t.Setenv("GOSTAP_RUNS", "")
	t.Setenv("GOSTAP_ORACLE", "")
	if s := Seeds(2, 50); fmt.Sprint(s) != "[1 2]" {
		t.Error(s)
	}
	t.Setenv("GOSTAP_ORACLE", "full")
	if s := Seeds(2, 50); len(s) != 50 || !Full() {
		t.Error(s)
	}
	t.Setenv("GOSTAP_SEED", "9")
	t.Setenv("GOSTAP_RUNS", "1")
	if s := Seeds(2, 50); fmt.Sprint(s) != "[9]" {
		t.Error(s)
	}
}
