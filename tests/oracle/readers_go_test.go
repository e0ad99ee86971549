package oracle

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/go-delve/delve/pkg/goversion"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

// TestGoReaders holds what is read of Go programs beside DWARF against Delve: the table of functions, which Delve reads
// of stripped programs, the release that built them and runtime.moduledata.
func TestGoReaders(t *testing.T) {
	for _, b := range binaries(t) {
		if b.stripped == "" {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			load := func(path string) *proc.BinaryInfo {
				bi := proc.NewBinaryInfo("linux", "amd64", false)
				if err := bi.LoadBinaryInfo(path, 0, nil); err != nil {
					t.Skip("Delve cannot read it: ", err) // one that gcc has linked and that is stripped, of Go 1.26
				}
				t.Cleanup(func() { bi.Close() })
				return bi
			}
			full, stripped := load(b.path), load(b.stripped)
			var f Figures
			defer f.Report(t, 500)
			for _, path := range []string{b.path, b.stripped} {
				tab, err := table(t, path)
				if err != nil {
					t.Fatal(err)
				}
				compareFunctions(&f, tab, stripped)
			}
			compareVersion(t, &f, b.path, full)
			compareModuledata(t, &f, b.path, full)
		})
	}
}

func table(t *testing.T, path string) (*pclntab.Table, error) {
	f, err := elffile.Open(path)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { f.Close() })
	return pclntab.Open(f)
}

// compareFunctions compares names, bounds, files and lines of the functions, and what is inlined where.
func compareFunctions(f *Figures, tab *pclntab.Table, bi *proc.BinaryInfo) {
	type call struct {
		name string
		pc   uint64
	}
	var funcs []*proc.Function
	inlined := map[call]bool{}
	for i := range bi.Functions {
		fn := &bi.Functions[i]
		if fn.Entry != 0 {
			funcs = append(funcs, fn)
		}
		for _, c := range fn.InlinedCalls {
			inlined[call{fn.Name, c.LowPC}] = true
		}
	}
	if tab.Len() != len(funcs) {
		f.Wrong("%d functions, Delve has %d", tab.Len(), len(funcs))
		return
	}
	mine := map[call]bool{}
	for i := range tab.Len() {
		calls, ok := tab.Inlined(i)
		if !ok {
			f.Wrong("%s: its inlined calls cannot be read", tab.Name(i))
		}
		for _, c := range calls {
			mine[call{c.Name, c.CallPC}] = true
		}
	}
	for c := range mine {
		if !inlined[c] {
			f.Wrong("%s is inlined at %#x, for Delve it is not", c.name, c.pc)
		}
	}
	for c := range inlined {
		if !mine[c] {
			f.Wrong("%s is not inlined at %#x, for Delve it is", c.name, c.pc)
		}
	}
	f.Equal(len(mine))
	for i := 0; i < tab.Len(); i += step(tab.Len(), 1000) {
		w := funcs[i]
		if tab.Name(i) != w.Name || tab.Entry(i) != w.Entry || tab.End(i) != w.End {
			f.Wrong("function %d is %s %#x-%#x, Delve has %s %#x-%#x", i,
				tab.Name(i), tab.Entry(i), tab.End(i), w.Name, w.Entry, w.End)
			continue
		}
		for _, pc := range []uint64{w.Entry, w.Entry + (w.End-w.Entry)/3, w.Entry + (w.End-w.Entry)/2} {
			if pc >= tab.CodeEnd(i) {
				continue
			}
			file, line, fn := bi.PCToLine(pc)
			if got, n := tab.Line(i, pc); fn != w || got != file || n != max(line, 0) || tab.Find(pc) != i {
				f.Wrong("%s: %#x is at %s:%d, Delve has %s:%d", w.Name, pc, got, n, file, line)
			} else {
				f.Equal(1)
			}
		}
	}
}

// compareVersion compares the release that is recorded in the program with that in its debug information.
func compareVersion(t *testing.T, f *Figures, path string, bi *proc.BinaryInfo) {
	im, err := godwarf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	want := goversion.ParseProducer(bi.Producer())
	got, ok := goversion.Parse(im.Version())
	if !ok || got.Major != want.Major || got.Minor != want.Minor || got.Rev != want.Rev {
		f.Wrong("built by %q, Delve has %+v of %q", im.Version(), want, bi.Producer())
	} else {
		f.Equal(1)
	}
}

// compareModuledata compares where the code begins by which the table of functions counts.
func compareModuledata(t *testing.T, f *Figures, path string, bi *proc.BinaryInfo) {
	tab, err := table(t, path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	mods, err := proc.LoadModuleData(bi, fileMemory{e})
	if err != nil || len(mods) == 0 {
		t.Fatal("Delve does not read the module data: ", err)
	}
	text := reflect.ValueOf(mods[0]).FieldByName("text").Uint()
	if tab.Text() != text && text != 0 {
		f.Wrong("the code begins at %#x, Delve has %#x", tab.Text(), text)
	} else {
		f.Equal(1)
	}
}

// fileMemory is a program's memory as it is before it runs.
type fileMemory struct{ f *elf.File }

func (m fileMemory) ReadMemory(b []byte, addr uint64) (int, error) {
	for _, p := range m.f.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr+uint64(len(b)) <= p.Vaddr+p.Memsz {
			clear(b)
			n, err := p.ReadAt(b, int64(addr-p.Vaddr))
			if err == io.EOF {
				err = nil
			}
			return max(n, len(b)), err
		}
	}
	return 0, fmt.Errorf("no memory at %#x", addr)
}

func (fileMemory) WriteMemory(uint64, []byte) (int, error) {
	return 0, errors.New("it is a file")
}
