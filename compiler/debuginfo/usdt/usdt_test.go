package usdt

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/loc"
)

// note makes one note as the assembler lays it out.
func note(owner string, typ uint32, pc, base, sema uint64, texts ...string) []byte {
	desc := binary.LittleEndian.AppendUint64(nil, pc)
	desc = binary.LittleEndian.AppendUint64(desc, base)
	desc = binary.LittleEndian.AppendUint64(desc, sema)
	for _, t := range texts {
		desc = append(append(desc, t...), 0)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(owner)+1))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, typ)
	b = append(append(b, owner...), 0)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b = append(b, desc...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func symbol(name string) (loc.Prog, bool) {
	if name == "global" || name == "table.1234" {
		return loc.Static(0x4000, name == "global"), true
	}
	return loc.Prog{}, false
}

// TestArgs: each kind of operand gives its type and place, or the reason why it cannot be read.
func TestArgs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"8@%rbx", "unsigned long = reg 3"},
		{"-8@%rax", "long = reg 0"},
		{"-4@%r8d", "int = reg 8"},
		{"2@%ax", "unsigned short = reg 0"},
		{"-1@%sil", "signed char = reg 4"},
		{"1@%r15b", "unsigned char = reg 15"},
		{"1@%dh", "unsigned char = reg 1; bits .0 8:8"},
		{"-4@$5", "int = const 5"},
		{"-4@$-5", "int = const -5"},
		{"8@$0x10", "unsigned long = const 16"},
		{"8@$18446744073709551615", "unsigned long = const -1"},
		{"8@-1400(%rbp)", "unsigned long at reg 6; const -1400; add .0 .1"},
		{"-4@(%rdi)", "int at reg 5"},
		{"-4@(%rax,%rdx,4)", "int at reg 0; reg 1; const 4; mul .1 .2; add .0 .3"},
		{"-4@8(%rax,%rdx)", "int at reg 0; reg 1; add .0 .1; const 8; add .2 .3"},
		{"-4@16(,%rdx,8)", "int at reg 1; const 8; mul .0 .1; const 16; add .2 .3"},
		{"-4@global(%rip)", "int at image; const 16384; add .0 .1"},
		{"-4@global+4(%rip)", "int at image; const 16388; add .0 .1"},
		{"-4@4+global(%rip)", "int at image; const 16388; add .0 .1"},
		{"-4@global-4(%rip)", "int at image; const 16380; add .0 .1"},
		{"-4@table.1234(%rip)", "int at const 16384"},
		{"-4@table.1234", "int at const 16384"},
		{"8@table.1234(,%rax,8)", "unsigned long at reg 0; const 8; mul .0 .1; const 16384; add .2 .3"},
		{"8@%fs:-16", "unsigned long at tls; const -16; add .0 .1"},
		{"8@%fs:8(%rax)", "unsigned long at reg 0; tls; add .0 .1; const 8; add .2 .3"},
		{"8@0x601040", "unsigned long at const 6295616"},
		{"%rdi", "long = reg 5"}, // notes of the first versions
		{"8f@%xmm3", "double = xmm 3"},
		{"4f@-8(%rbp)", "float at reg 6; const -8; add .0 .1"},
		{"8@%xmm16", "not live: in the vector register xmm16"},
		{"8@%st(0)", "not live: in the vector register st(0)"},
		{"-4@missing(%rip)", "not live: relative to missing, which is not among the symbols"},
		{"-4@8(%rip)", `not live: its place is "8(%rip)"`},
		{"-4@(%eax)", `not live: its place is "(%eax)"`},
		{"-4@(%rax,%rbx,3)", `not live: its place is "(%rax,%rbx,3)"`},
		{"-4@(%rax", `not live: its place is "(%rax"`},
		{"-4@", `not live: its place is ""`},
		{"-4@a+b(%rip)", `not live: its place is "a+b(%rip)"`},
		{"-4@$x", `not live: its constant is "x"`},
		{"3@%eax", `not live: the note says that it has "3" bytes`},
		{"@%eax", `not live: the note says that it has "" bytes`},
		{"99999999999999999999@%eax", "not live: the note says"},
		{"-9223372036854775808@%eax", "not live: the note says"},
	} {
		f := File{Symbol: symbol}
		v := f.args(c.text)[0]
		got := v.Type.Name
		switch {
		case v.Err != nil:
			got = "not live: " + v.Err.Error()
		case v.Place.InMemory:
			got += " at " + v.Place.Addr.String()
		case v.Place.Pieces[0].Vector > 0:
			got += " = xmm " + string(rune('0'+v.Place.Pieces[0].Vector-1))
		default:
			got += " = " + v.Place.Pieces[0].Val.String()
		}
		before, after, _ := strings.Cut(c.want, ": ")
		if got != c.want && (v.Err == nil || !strings.HasPrefix(got, before) || !strings.Contains(got, after)) {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// TestRead: notes of other owners are passed over; addresses follow a .stapsdt.base that was moved.
func TestRead(t *testing.T) {
	notes := append(note("GNU", 3, 1, 2, 3, "x"),
		note("stapsdt", 3, 0x1000, 0x2000, 0x3000, "app", "one", "8@%rbx -4@%eax")...)
	notes = append(notes, note("stapsdt", 3, 0x1010, 0x2000, 0, "app", "two", "")...)
	f := File{Base: 0x2100}
	marks, err := f.Read(notes)
	if err != nil || len(marks) != 2 {
		t.Fatal(marks, err)
	}
	one, two := marks[0], marks[1]
	if one.Provider != "app" || one.Name != "one" || one.PC != 0x1100 || one.Semaphore != 0x3100 ||
		len(one.Args) != 2 || one.Args[1].Name != "arg2" {
		t.Errorf("%+v", one)
	}
	if two.Name != "two" || two.PC != 0x1110 || two.Semaphore != 0 || len(two.Args) != 0 {
		t.Errorf("%+v", two)
	}
	still := File{}
	if marks, err := still.Read(notes); err != nil || marks[0].PC != 0x1000 || marks[0].Semaphore != 0x3000 {
		t.Error(marks, err)
	}
	for cut := range len(notes) {
		if marks, err := f.Read(notes[:cut]); err != nil && !errors.Is(err, ErrNotes) || len(marks) > 2 {
			t.Error(cut, marks, err)
		}
	}
	if _, err := f.Read(notes[:len(notes)-8]); err == nil {
		t.Error("a note that is cut was taken")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(note("stapsdt", 3, 0x1000, 0x2000, 0x3000, "app", "one",
		"8@%rbx -4@-20(%rbp,%rax,8) 2@global+4(%rip) 8f@%xmm0 4@%fs:8"), uint64(0x2100))
	f.Fuzz(func(t *testing.T, notes []byte, base uint64) {
		u := File{Base: base, Symbol: symbol}
		marks, err := u.Read(notes)
		if err != nil && !errors.Is(err, ErrNotes) {
			t.Error(err)
		}
		for _, m := range marks {
			for _, v := range m.Args {
				if v.Err == nil && !v.Place.InMemory && len(v.Place.Pieces) != 1 {
					t.Errorf("%q: %+v", m.Text, v)
				}
			}
		}
	})
}
