package kept

import (
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	f := Tail{Most: 5, First: true}
	for _, s := range []string{"ab", "cdef", "g"} {
		f.Write([]byte(s))
	}
	if text, total, left := f.Text(); text != "abcde" || total != 5 || left != 2 {
		t.Errorf("%q %d %d", text, total, left)
	}
	if total, left := f.Size(); total != 5 || left != 2 {
		t.Errorf("%d %d", total, left)
	}
	x := Tail{Most: 10}
	for range 1000 {
		x.Write([]byte("abc"))
	}
	x.Write([]byte("12\xff4"))
	if text, total, left := x.Text(); text != "abcabc12\uFFFD4" || total != 3004 || left != 2994 || len(x.b) > 20 {
		t.Errorf("%q %d %d", text, total, left)
	}
	if n := testing.AllocsPerRun(10, func() { x.Size() }); n > 0 {
		t.Errorf("Size makes copies: %v", n)
	}
}

func TestLines(t *testing.T) {
	var got []string
	l := Lines{Line: func(s string) { got = append(got, s) }}
	long := strings.Repeat("x", mostLine)
	for _, s := range []string{"a", "b\nc\n\nd", long, "\nend"} {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	l.End()
	l.End()
	if text := strings.Join(got, "|"); text != "ab\n|c\n|\n|d"+long+"|\n|end" {
		t.Errorf("%.40q of %d", text, len(text))
	}
}

// TestSaid: what messages count, and what they are about.
func TestSaid(t *testing.T) {
	for text, want := range map[string]struct {
		lost            int64
		breaks, refuses bool
	}{
		"WARNING: 7 events lost because":  {lost: 7},
		"WARNING: 3 more warnings, with":  {},
		"WARNING: 99999999999999999999 x": {},
		"ERROR: MAXACTION":                {breaks: true},
		"error: no":                       {refuses: true},
		"<input>:1:7: error: no match":    {refuses: true},
		"it is an error: no":              {},
	} {
		if Lost(text) != want.lost || Breaks(text) != want.breaks || Refuses(text) != want.refuses {
			t.Errorf("%s: %d %v %v", text, Lost(text), Breaks(text), Refuses(text))
		}
	}
}
