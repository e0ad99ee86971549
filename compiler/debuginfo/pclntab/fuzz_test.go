package pclntab

import (
	"os"
	"path/filepath"
	"testing"
)

// small is a hand-made table of two functions, the first with a call inlined into it.
func small() (tab []byte, tree []byte) {
	names := []byte("\x00a.f\x00a.g\x00")
	cus := []byte{0, 0, 0, 0}
	files := []byte("a.go\x00\x00\x00\x00")
	pcs := []byte{0,
		2, 10, 0, // 1: line/file/depth 0 for 10 bytes
		0, 0, 0,
		2, 4, 1, 4, 0} // 7: inline index 0 for 4 bytes, then -1
	for len(pcs)%8 != 0 {
		pcs = append(pcs, 0)
	}
	rec := func(entry, name uint32, pcdata ...uint32) []byte {
		var b []byte
		for _, v := range []uint32{entry, name, 0, 0, 1, 1, 1, uint32(len(pcdata)), 0, 7} {
			b = le.AppendUint32(b, v)
		}
		b = append(b, 0, 0, 0, 4)
		for _, v := range pcdata {
			b = le.AppendUint32(b, v)
		}
		none := ^uint32(0)
		for _, v := range []uint32{none, none, none, 0} {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	r1, r2 := rec(0, 1, 0, 0, 7), rec(16, 5)
	var fn []byte
	for _, v := range []uint32{0, 20, 16, uint32(20 + len(r1)), 32} {
		fn = le.AppendUint32(fn, v)
	}
	fn = append(append(fn, r1...), r2...)
	tab = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	off := uint64(72)
	for _, v := range []uint64{2, 1, 0} {
		tab = le.AppendUint64(tab, v)
	}
	for _, p := range [][]byte{names, cus, files, pcs, fn} {
		tab = le.AppendUint64(tab, off)
		off += uint64(len(p))
	}
	for _, p := range [][]byte{names, cus, files, pcs, fn} {
		tab = append(tab, p...)
	}
	for _, v := range []uint32{0, 5, 4, 3} { // funcID, name a.g, parentPc, startLine
		tree = le.AppendUint32(tree, v)
	}
	return tab, tree
}

func TestSmall(t *testing.T) {
	tab, tree := small()
	tb, err := New(tab, 0x1000, 0x5000, memAt(0x5000, tree))
	if err != nil {
		t.Fatal(err)
	}
	calls, ok := tb.Inlined(0)
	if !ok || len(calls) != 1 || calls[0].Name != "a.g" || calls[0].CallPC != 0x1004 || calls[0].Parent != -1 {
		t.Errorf("inlined: %+v", calls)
	}
	if f := tb.Frames(0, 0x1000); len(f) != 2 || f[0].Name != "a.g" || f[1].Name != "a.f" || f[1].File != "a.go" {
		t.Errorf("frames: %+v", f)
	}
	if d, ok := tb.StackDepth(0, 0x1009); !ok || d != 0 {
		t.Errorf("depth %d %v", d, ok)
	}
}

func memAt(base uint64, b []byte) func(uint64, int) ([]byte, error) {
	return func(addr uint64, n int) ([]byte, error) {
		if addr < base || addr-base > uint64(len(b)) {
			return nil, os.ErrNotExist
		}
		b := b[addr-base:]
		return b[:min(n, len(b))], nil
	}
}

// FuzzTable reads everything out of damaged tables.
func FuzzTable(f *testing.F) {
	tab, tree := small()
	f.Add(tab, tree)
	old := append([]byte(nil), tab...)
	old[0] = 0xf0
	f.Add(old, tree)
	old = append([]byte(nil), tab...)
	old[0] = 0xfa
	f.Add(old, tree)
	f.Fuzz(func(t *testing.T, tab, tree []byte) {
		tb, err := New(tab, 0x1000, 0x5000, memAt(0x5000, tree))
		if err != nil {
			return
		}
		for i := range min(tb.Len(), 100) {
			e := tb.Entry(i)
			tb.Named(tb.Name(i))
			tb.File(i)
			tb.StartLine(i)
			tb.Flags(i)
			tb.DeferReturn(i)
			for _, r := range tb.Rows(i) {
				if r.Hi <= r.Lo {
					t.Fatal("empty row")
				}
			}
			tb.CodeEnd(i)
			tb.Args(i)
			tb.StackDepth(i, e+4)
			calls, _ := tb.Inlined(i)
			for _, c := range calls {
				if c.Parent >= len(calls) {
					t.Fatal("parent out of range")
				}
			}
			tb.Frames(tb.Find(e), e)
			tb.Frames(i, e+4)
		}
		tb.SelectInlined(func(n []byte) bool { return true })
		tb.SelectFiles(func(n []byte) bool { return true })
		tb.Files(func([]byte) bool { return true })
	})
}

// large gives big binaries that every Go installation has.
func large(b *testing.B) string {
	for _, p := range []string{"pkg/tool/linux_amd64/compile", "bin/go"} {
		if p = filepath.Join(os.Getenv("GOROOT"), p); fileExists(p) {
			return p
		}
		if p = filepath.Join("/usr/local/go", p); fileExists(p) {
			return p
		}
	}
	b.Skip("no large binary")
	return ""
}

func fileExists(p string) bool { _, err := os.Stat(p); return err == nil }

func BenchmarkOpen(b *testing.B) {
	path := large(b)
	for b.Loop() {
		open(b, path)
	}
}

func BenchmarkNamed(b *testing.B) {
	tab, _ := open(b, large(b))
	b.ReportAllocs()
	name := tab.Name(tab.Len() / 2)
	for b.Loop() {
		if len(tab.Named(name)) == 0 {
			b.Fatal("not found")
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	tab, _ := open(b, large(b))
	b.ReportAllocs()
	for b.Loop() {
		tab.Select(func(n []byte) bool { return len(n) > 5 && string(n[:5]) == "main." })
	}
}

func BenchmarkSelectInlined(b *testing.B) {
	tab, _ := open(b, large(b))
	b.ReportAllocs()
	for b.Loop() {
		tab.SelectInlined(func(n []byte) bool { return string(n) == "strings.HasPrefix" })
	}
}
