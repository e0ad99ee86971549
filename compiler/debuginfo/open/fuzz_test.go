package open

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// FuzzImage reads whole programs, of C and of Go, with bytes changed: those that the input says, and damage that
// knows the file's structure, which seed chooses. Nothing is written to a disk.
func FuzzImage(f *testing.F) {
	dir := f.TempDir()
	c, g := filepath.Join(dir, "x.c"), filepath.Join(dir, "main.go")
	os.WriteFile(c, []byte("struct s { int a; struct s *next; } glob;\nstatic inline int twice(struct s *p) { return "+
		"p->a * 2; }\n"+"__attribute__((noinline)) int traceme(struct s *p, int n) { return twice(p) + n; }\nint "+
		"main(int c, char **v) { glob.a = c; return traceme(&glob, c); }\n"), 0o644)
	os.WriteFile(g, []byte("package main\n\ntype S struct{ A int; Next *S }\n\nfunc twice(p *S) int { return p.A * 2 "+
		"}\n\n//go:noinline\n"+
		"func traceme(p *S, n int) int { return twice(p) + n }\n\nfunc main() { println(traceme(&S{A: 1}, 1)) }\n"),
		0o644)
	var files []*elftest.Mutator
	for _, cmd := range [][]string{
		{"gcc", "-g", "-O2", "-o", "O2", c}, {"gcc", "-g", "-O0", "-gdwarf-4", "-o", "O0", c},
		{"go", "build", "-ldflags=-compressdwarf=false", "-o", "plain", g},
		{"go", "build", "-ldflags=-s -w", "-o", "stripped", g},
	} {
		run := exec.Command(cmd[0], cmd[1:]...)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			f.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, cmd[len(cmd)-2]))
		if err != nil {
			f.Fatal(err)
		}
		m, err := elftest.NewMutator(b)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, m)
		f.Add(uint8(len(files)-1), uint64(len(files)), []byte{0, 20, 0, 0xff})
	}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, changes []byte) {
		img, _ := files[int(which)%len(files)].Mutate(rand.New(rand.NewPCG(seed, 0)))
		for ; len(changes) >= 4; changes = changes[4:] {
			img[(int(changes[0])<<16|int(changes[1])<<8|int(changes[2]))%len(img)] = changes[3]
		}
		file, err := elffile.InMemory(img)
		if err != nil {
			return
		}
		im, err := New(file)
		if err != nil {
			return
		}
		defer im.Close()
		images := []debuginfo.Image{im}
		if m, ok := im.(debuginfo.Mixed); ok && m.Other() != nil {
			images = append(images, m.Other())
		}
		for _, im := range images {
			if w, ok := im.(interface{ UnwindPieces() ([]cfi.Piece, error) }); ok {
				pieces, _ := w.UnwindPieces()
				cfi.Table(pieces)
			}
			fs, _ := im.Funcs("*traceme*")
			more, _ := im.Funcs("main*")
			for i, fn := range append(fs, more...) {
				if i > 20 {
					break
				}
				s, err := im.EntrySite(fn)
				if err != nil {
					continue
				}
				im.Vars(s)
				rs, _ := im.ReturnSites(fn)
				for _, r := range rs {
					im.Results(r)
				}
				im.Lookup(fn.Entry + 5)
			}
			im.Inlined("*twice")
			im.LineSites(debuginfo.LineQuery{Func: "*traceme", All: true})
			im.Type("struct s")
			im.Type("main.S")
			im.Global("glob")
		}
	})
}
