package dw

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"os"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"
	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/line"
	"github.com/go-delve/delve/pkg/dwarf/loclist"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

// someFuncs are functions from all over the program.
func someFuncs(b *testing.B, d *Data) []FuncRef {
	refs, _, err := d.FindFuncs(func([]byte) bool { return true })
	if err != nil {
		b.Fatal(err)
	}
	var out []FuncRef
	for i := 0; i < len(refs); i += max(1, len(refs)/200) {
		out = append(out, refs[i])
	}
	return out
}

// BenchmarkDelve sets the readers beside Delve's: what docs/rationale.md says of them was measured by it. BENCH_BINARY
// names another program than cmd/go.
func BenchmarkDelve(b *testing.B) {
	path := elftest.GoCommand(b)
	d := openDwarf(b, path)
	funcs := someFuncs(b, d)
	section := func(name string) []byte { s, _ := d.File().Optional(name); return s }
	b.Run("open/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			f, err := elffile.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			d, err := Open(f)
			if err != nil {
				b.Fatal(err)
			}
			if _, t, err := d.FuncTree(funcs[len(funcs)/2].Low); err != nil || t == nil {
				b.Fatal(t, err)
			}
		})
	})
	b.Run("open/delve", func(b *testing.B) {
		elftest.CPU(b, func() {
			bi := proc.NewBinaryInfo("linux", "amd64", false)
			if err := bi.LoadBinaryInfo(path, 0, nil); err != nil {
				b.Fatal(err)
			}
			if bi.PCToFunc(funcs[len(funcs)/2].Low) == nil {
				b.Fatal("no function")
			}
			bi.Close()
		})
	})
	b.Run("tree/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			for _, r := range funcs {
				clear(r.Unit.trees)
				if _, err := r.Unit.Tree(r.Die); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("tree/delve", func(b *testing.B) {
		elftest.CPU(b, func() {
			for _, r := range funcs {
				if _, err := godwarf.LoadTree(r.Die, d.DWARF(), 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	var lists []*godwarf.Tree
	var listUnits []*Unit
	for _, r := range funcs {
		t, err := r.Unit.Tree(r.Die)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range t.Children {
			if _, ok := c.Val(dwarf.AttrLocation).(int64); ok {
				lists, listUnits = append(lists, c), append(listUnits, r.Unit)
			}
		}
	}
	b.Run("list/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			for i, t := range lists {
				l, err := listUnits[i].Locations(t, dwarf.AttrLocation)
				if err != nil {
					b.Fatal(err)
				}
				dwexpr.At(l, l[len(l)-1].Lo)
			}
		})
	})
	pcs := make([]uint64, len(lists))
	for i, t := range lists {
		l, _ := listUnits[i].Locations(t, dwarf.AttrLocation)
		pcs[i] = l[len(l)-1].Lo
	}
	b.Run("list/delve", func(b *testing.B) {
		v5, v4 := loclist.NewDwarf5Reader(section(".debug_loclists")), loclist.NewDwarf2Reader(section(".debug_loc"), 8)
		addr := godwarf.ParseAddr(section(".debug_addr"))
		elftest.CPU(b, func() {
			for i, t := range lists {
				var rd loclist.Reader = v5
				if listUnits[i].Version < 5 {
					rd = v4
				}
				u := listUnits[i]
				own, _ := u.Entry()
				base, _ := own.Val(dwarf.AttrAddrBase).(int64)
				low, _ := own.Val(dwarf.AttrLowpc).(uint64)
				off, addrs := int(t.Val(dwarf.AttrLocation).(int64)), addr.GetSubsection(uint64(base))
				if _, err := rd.Find(off, 0, low, pcs[i], addrs); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	benchTable(b, path)
	benchLines(b, d, funcs, section(".debug_line"), section(".debug_line_str"))
	benchFrames(b, d, funcs)
}

// benchTable finds a function of a program without debug information: BENCH_BINARY with .stripped behind its name.
func benchTable(b *testing.B, path string) {
	path += ".stripped"
	if _, err := os.Stat(path); err != nil {
		return
	}
	b.Run("table/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			f, err := elffile.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			tab, err := pclntab.Open(f)
			if err != nil || len(tab.Named("main.main")) != 1 {
				b.Fatal(err)
			}
		})
	})
	b.Run("table/delve", func(b *testing.B) {
		elftest.CPU(b, func() {
			bi := proc.NewBinaryInfo("linux", "amd64", false)
			if err := bi.LoadBinaryInfo(path, 0, nil); err != nil {
				b.Fatal(err)
			}
			if f, err := bi.FindFunction("main.main"); err != nil || len(f) != 1 {
				b.Fatal(err)
			}
			bi.Close()
		})
	})
}

// benchLines asks for the addresses of one line of one unit, as a probe at a line does.
func benchLines(b *testing.B, d *Data, funcs []FuncRef, sec, strs []byte) {
	u := funcs[len(funcs)/2].Unit
	rows, err := u.Rows()
	if err != nil {
		b.Fatal(err)
	}
	row := rows[len(rows)/2]
	file := u.FileOf(row)
	e, _ := u.Entry()
	off := e.Val(dwarf.AttrStmtList).(int64)
	b.Run("line/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			rows, err := u.readRows()
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for _, r := range rows {
				if r.Line == row.Line && u.FileOf(r) == file {
					n++
				}
			}
			if n == 0 {
				b.Fatal("no such line")
			}
		})
	})
	b.Run("line/delve", func(b *testing.B) {
		elftest.CPU(b, func() {
			l := line.Parse(u.CompDir(), bytes.NewBuffer(sec[off:]), strs, nil, 0, false, 8)
			if len(l.LineToPCs(file, row.Line)) == 0 {
				b.Fatal("no such line")
			}
		})
	})
}

// benchFrames asks for the frame at one place of each function, in a program that was not asked before: two hundred
// questions.
func benchFrames(b *testing.B, d *Data, funcs []FuncRef) {
	b.Run("frame/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			f := openFile(b, d.File().Path())
			for _, r := range funcs {
				if _, err := f.Unwind(r.Low); err != nil {
					b.Fatal(err)
				}
			}
			f.Close()
		})
	})
	b.Run("frame/delve", func(b *testing.B) {
		elftest.CPU(b, func() {
			f := openFile(b, d.File().Path())
			var fdes frame.FrameDescriptionEntries
			if eh, _ := f.Section(".eh_frame"); eh != nil {
				addr, _, _ := f.SectionAddr(".eh_frame")
				x, err := frame.Parse(eh, binary.LittleEndian, 0, 8, addr)
				if err != nil {
					b.Fatal(err)
				}
				fdes = fdes.Append(x)
			}
			if sec, _ := f.Section(".debug_frame"); len(sec) > 0 {
				x, err := frame.Parse(sec, binary.LittleEndian, 0, 8, 0)
				if err != nil {
					b.Fatal(err)
				}
				fdes = fdes.Append(x)
			}
			for _, r := range funcs {
				fde, err := fdes.FDEForPC(r.Low)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := fde.EstablishFrame(r.Low); err != nil {
					b.Fatal(err)
				}
			}
			f.Close()
		})
	})
}
