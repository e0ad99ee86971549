package textfmt

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/source"
)

// TestWrongMemory: an address of the kernel given to a function that reads programs is told, and the other way round.
func TestWrongMemory(t *testing.T) {
	var files source.FileSet
	src := "user_string(x) user_int32 kernel_string_n $p"
	f := files.Add("t.stp", []byte(src))
	p := &ir.Program{Files: &files, Limits: layout.Default()}
	for _, c := range []struct {
		at   int
		addr int64
		want string
	}{
		{0, -1 << 40, "kernel_string"}, {15, -1, "kernel_string"}, {26, 0x7fff00001000, "user_string"},
		{0, 16, ""}, {26, 0, ""}, {26, 16, ""}, {26, -1 << 40, ""}, {0, 0x7fff00001000, ""}, {42, -1, ""},
	} {
		fault := Fault{Code: ir.ErrMemory, Pos: f.Pos(c.at), Args: []Val{{Int: c.addr}}}
		_, hint, _ := strings.Cut(fault.Text(p), "hint: ")
		if !strings.Contains(hint, c.want) || (c.want == "") != (hint == "") {
			t.Errorf("%s of 0x%x: hint %q", src[c.at:], uint64(c.addr), hint)
		}
	}
}

func TestFaultText(t *testing.T) {
	var files source.FileSet
	src := "probe begin {\n  x = 1 / 0; a[5] = @min(s) \"a\\\"b\" 0x1f += if\n}\n"
	f := files.Add("t.stp", []byte(src))
	p := &ir.Program{Files: &files, Limits: layout.Default(),
		Globals: []*ir.Global{{Name: "a", Size: 2048}, {Name: "b", Size: 3}}}
	at := func(off int) source.Pos { return f.Pos(off) }
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{Code: ir.ErrDivZero, Pos: at(22)}, "ERROR: division by 0 near operator '/' at t.stp:2:9"},
		{Fault{Code: ir.ErrMapFull, Pos: at(27), Args: []Val{{Int: 0}}},
			"ERROR: Array overflow, check MAXMAPENTRIES near identifier 'a' at t.stp:2:14"},
		{Fault{Code: ir.ErrMapFull, Pos: at(27), Args: []Val{{Int: 1}}},
			"ERROR: Array overflow, check size limit (3) near identifier 'a' at t.stp:2:14"},
		{Fault{Code: ir.ErrEmptyStat, Pos: at(34)}, "ERROR: empty aggregate near operator '@min' at t.stp:2:21"},
		{Fault{Code: ir.ErrUser, Pos: at(42), Args: []Val{{Str: "mine"}}},
			"ERROR: mine near string 'a\\\"b' at t.stp:2:29"},
		{Fault{Code: ir.ErrMaxAction, Pos: at(49)}, "ERROR: MAXACTION exceeded near number '0x1f' at t.stp:2:36"},
		{Fault{Code: ir.ErrMaxNesting, Pos: at(54)}, "ERROR: MAXNESTING exceeded near operator '+=' at t.stp:2:41"},
		{Fault{Code: ir.ErrExhausted, Pos: at(57)}, "ERROR: all functions exhausted near keyword 'if' at t.stp:2:44"},
		{Fault{Code: ir.ErrMemory, Pos: 0, Args: []Val{{Int: 64}}}, "ERROR: read fault at 0x0000000000000040"},
		{Fault{Code: ir.ErrWrite, Args: []Val{{Int: 64}}}, "ERROR: write fault at 0x0000000000000040"},
		{Fault{Code: ir.ErrIndexRange, Args: []Val{{Int: 9}, {Int: 4}}}, "ERROR: index 9 is out of range, length 4"},
		{Fault{Code: ir.ErrDivZero, Pos: at(len(src))}, "ERROR: division by 0 at t.stp:4:1"},
	} {
		if got := c.fault.Text(p); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for c := ir.ErrNone; c < ir.NumCodes; c++ {
		if (&Fault{Code: c}).Text(nil) == "" {
			t.Errorf("no text for %s", c)
		}
	}
}

func FuzzNear(f *testing.F) {
	f.Add([]byte("probe begin { @avg(x) \"abc"), 3)
	f.Fuzz(func(t *testing.T, text []byte, off int) {
		var files source.FileSet
		file := files.Add("f", text)
		if off >= 0 && off <= len(text) {
			Near(&files, file.Pos(off))
		}
	})
}
