package cdwarf

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// FuzzImage changes bytes of real programs and asks their Images for everything. The input is a list of changes:
// which section, where in it, and the new byte.
func FuzzImage(f *testing.F) {
	var files [][]byte
	for _, name := range []string{"O0", "O2", "O2-lto", "O0-nopie-v4"} {
		b, err := os.ReadFile(build(f, name))
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, b)
	}
	f.Add(uint8(0), []byte{0, 0, 10, 0xff})
	f.Add(uint8(1), []byte{1, 0, 0, 0xff, 2, 0, 1, 0})
	f.Add(uint8(2), []byte{3, 1, 0, 0x80, 3, 1, 1, 0x80, 4, 0, 12, 1})
	names := []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_loclists", ".debug_loc", ".debug_rnglists",
		".debug_ranges", ".debug_aranges", ".eh_frame", ".eh_frame_hdr", ".symtab", ".text", ".debug_str"}
	path := filepath.Join(f.TempDir(), "prog")
	f.Fuzz(func(t *testing.T, which uint8, changes []byte) {
		b := bytes.Clone(files[int(which)%len(files)])
		e, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for ; len(changes) >= 4; changes = changes[4:] {
			s := e.Section(names[int(changes[0])%len(names)])
			if s == nil || s.FileSize == 0 {
				continue
			}
			b[int(s.Offset)+(int(changes[1])<<8|int(changes[2]))%int(s.FileSize)] = changes[3]
		}
		p := path + strings.Repeat("x", os.Getpid()%7)
		os.Remove(p)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Skip(err)
		}
		im, err := Open(p)
		if err != nil {
			return
		}
		defer im.Close()
		defer func() {
			if r := recover(); r != nil {
				buf := make([]byte, 4096)
				t.Fatalf("%v\n%s", r, buf[:runtime.Stack(buf, false)])
			}
		}()
		everything(im)
	})
}

func everything(im *Image) {
	fs, _ := im.Funcs("*")
	for _, f := range fs {
		im.FuncAt(f.Entry + 1)
		im.Lookup(f.Entry + 3)
		calls, _ := im.Calls(f)
		for _, c := range calls {
			im.SiteAt(c.PC)
			im.FramePointer(c.PC)
			im.FuncAt(c.Target)
		}
		copies, _ := im.Copies(f)
		for _, c := range copies {
			im.Vars(c.Site)
		}
		s, err := im.EntrySite(f)
		if err != nil {
			continue
		}
		im.Vars(s)
		im.Var(s, "n")
		im.FileOffset(s.PC)
		s.Kind = debuginfo.AfterRet
		im.Vars(s)
		im.Results(s)
	}
	im.NearNames("blokcs")
	labels, _ := im.Labels("*")
	for _, l := range labels {
		im.Vars(l.Site)
	}
	in, _ := im.Inlined("*")
	for _, x := range in {
		im.Vars(x.Site)
	}
	sites, _ := im.LineSites(debuginfo.LineQuery{Func: "*", File: "callee.c", All: true})
	for _, s := range sites {
		im.Vars(s)
	}
	im.LineSites(debuginfo.LineQuery{Func: "blocks", Rel: true, Line: 1, Nearest: true})
	im.Global("counter")
	im.Global("hidden@main.c")
	if t, err := im.Type("struct node"); err == nil {
		for _, f := range t.Fields() {
			f.Type.Elem()
			f.Type.Fields()
		}
	}
}
