package source

import (
	"strings"
	"testing"
)

func packed(t testing.TB) (*FileSet, []Pos) {
	s := new(FileSet)
	main := s.Add("a/b.stp", []byte("probe begin {\n\tsecret\n\terror(\"ä x\") next\n}\n"))
	lib := s.Add("lib.stp", []byte("function f() {\n return 1 }"))
	lib.Library = true
	view := s.AddView(main, 15, 21, lib.Pos(3), "argument")
	paste := s.AddPaste("$1", []byte("pasted"), main.Pos(16), "argument $1")
	return s, []Pos{main.Pos(strings.Index(string(main.Text), "next")), view.Pos(2), paste.Pos(3)}
}

// TestPack: positions resolve as before, and lines that none of them lies in are not there.
func TestPack(t *testing.T) {
	s, keep := packed(t)
	b := s.Pack(nil, keep[:1])
	if strings.Contains(string(b), "secret") {
		t.Error("a line that nobody asked for is packed")
	}
	b = append(s.Pack(nil, keep), "rest"...)
	u, rest, err := Unpack(b)
	if err != nil || string(rest) != "rest" {
		t.Fatal(err, string(rest))
	}
	for _, p := range keep {
		if a, b := s.Position(p), u.Position(p); a.String() != b.String() ||
			a.File.Line(a.Line) != b.File.Line(b.Line) {
			t.Errorf("%s became %s: %q", a, b, b.File.Line(b.Line))
		}
		if a, b := s.Chain(p), u.Chain(p); len(a) != len(b) || len(a) > 0 && a[0] != b[0] {
			t.Errorf("chain %v became %v", a, b)
		}
	}
	for i := range b[:len(b)-4] {
		Unpack(b[:i])
	}
}

func FuzzUnpack(f *testing.F) {
	s, keep := packed(f)
	f.Add(s.Pack(nil, keep))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 4, 1, 0, 2, 'a', 'b'})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _, err := Unpack(b)
		if err != nil {
			return
		}
		for p := Pos(0); p < s.next && p < 1000; p++ {
			s.Position(p)
			s.Chain(p)
		}
		if _, _, err := Unpack(s.Pack(nil, []Pos{1, 5})); err != nil {
			t.Fatal(err)
		}
	})
}
