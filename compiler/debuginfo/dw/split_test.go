package dw_test

import (
	"debug/dwarf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

const splitOther = `#include <stdlib.h>
struct other { struct other *next; char tag; double d; } chain = { 0, 'x', 2.5 };
static int bump(struct other *o, int by) { int was = o->tag; o->tag += by; return was + rand(); }
__attribute__((noinline)) int elsewhere(struct other *o, long n) { int r = 0; while (n--) r += bump(o, r); return r; }
`

// describeAll writes down what d says of its functions: names, places in the file, copies, addresses, variables
// with their types and where they are.
func describeAll(t *testing.T, d *dw.Data) (out []string) {
	t.Helper()
	funcs, copies, err := d.FindFuncs(func([]byte) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range copies {
		e, err := d.Entry(c.Die)
		if err != nil {
			t.Fatal(err)
		}
		pc, _ := dw.EntryPC(e)
		out = append(out, fmt.Sprintf("copy of %s = %s at %#x, called in line %d", c.Name, dw.Name(e), pc,
			dw.Int(e, dwarf.AttrCallLine)))
	}
	for _, f := range funcs {
		u, tree, err := d.FuncTree(f.Low)
		if err != nil || tree == nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		out = append(out, fmt.Sprintf("%s in %s of %s at %#x, language %d, compiled in %s", f.Name,
			d.FileAttr(tree, dwarf.AttrDeclFile), filepath.Base(u.Name()), tree.Ranges, u.Lang(), u.CompDir()))
		for _, v := range dw.AllVars(tree) {
			ty, err := dwtype.Of(d).TypeOf(v)
			if err != nil {
				t.Errorf("%s: type of %s: %v", f.Name, dw.Name(v.Tree), err)
				continue
			}
			s := fmt.Sprintf("%s: %s %s of %d bytes in block %#x", f.Name, dw.Name(v.Tree), ty.Name, ty.Size,
				v.Block.Ranges)
			if el := ty.Elem(); el != nil {
				for _, m := range el.Fields() {
					s += fmt.Sprintf(" ->%s %s at %d", m.Name, m.Type.Name, m.Off)
				}
			}
			for pc := f.Low; pc < f.Low+40; pc++ {
				p, _, err := u.VarPlaceAt(v, ty, u.Env(tree, pc), pc, dwexpr.FirstView)
				s += fmt.Sprintf("\n%#x %v %v", pc, p.Pieces, err)
			}
			out = append(out, s)
		}
	}
	for _, name := range []string{"struct outer", "struct other", "outer_t"} {
		ty, err := dwtype.Of(d).NamedType(name)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d bytes, %d members", ty.Name, ty.Size, len(ty.Fields())))
	}
	for _, name := range []string{"head", "table", "chain"} {
		refs, err := d.FindGlobals(name)
		for _, r := range refs {
			e, err := d.Entry(r.Die)
			if err != nil {
				t.Fatal(err)
			}
			ty, err := dwtype.Of(d).TypeOf(e)
			p, err2 := r.Unit.VarPlace(e, ty, r.Unit.Env(nil, 0), 0)
			out = append(out, fmt.Sprint(name, " ", r.External, " ", p.Pieces, err, err2))
		}
		if err != nil {
			t.Error(err)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestSplitDwarf compares what is read of programs that have their debug information in .dwo files, and in .dwp
// packages of them, with the same code that has it in itself.
func TestSplitDwarf(t *testing.T) {
	elftest.Tolerant(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"a.c": twins, "b.c": splitOther} {
		text = strings.Replace(text, "int main(int argc",
			"struct other; extern struct other chain; int elsewhere(struct other *, long);\nint main(int argc", 1)
		text = strings.Replace(text, "	return 0;", "	return elsewhere(&chain, argc) == 1;", 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, cc := range []string{"gcc", "clang"} {
		for _, flags := range []string{"-O0 -gdwarf-4", "-O2 -gdwarf-4", "-O0 -gdwarf-5", "-O2 -gdwarf-5",
			"-O2 -gdwarf-5 -fdebug-types-section"} {
			t.Run(cc+" "+flags, func(t *testing.T) {
				if _, err := exec.LookPath(cc); err != nil {
					t.Skip(err)
				}
				where := filepath.Join(dir, strings.ReplaceAll(cc+flags, " ", ""))
				os.Mkdir(where, 0o755)
				do := func(name string, args ...string) {
					t.Helper()
					cmd := exec.Command(name, args...)
					cmd.Dir = where
					if b, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%s %q: %v %s", name, args, err, b)
					}
				}
				build := func(out string, more ...string) {
					t.Helper()
					for _, s := range []string{"a", "b"} {
						do(cc, append(append(strings.Fields(flags), more...), "-g", "-c", "-o", s+".o",
							filepath.Join(dir, s+".c"))...)
					}
					do(cc, "-o", out, "a.o", "b.o")
				}
				build("plain")
				build("split", "-gsplit-dwarf")
				want := describeAll(t, openData(t, filepath.Join(where, "plain")))
				if len(want) < 20 {
					t.Errorf("only %d facts", len(want))
				}
				same := func(what, path string) {
					t.Helper()
					got := describeAll(t, openData(t, path))
					if !slices.Equal(want, got) {
						for i := range max(len(want), len(got)) {
							w, g := "", ""
							if i < len(want) {
								w = want[i]
							}
							if i < len(got) {
								g = got[i]
							}
							if w != g {
								t.Fatalf("%s:\n%s\nwant\n%s", what, g, w)
							}
						}
					}
				}
				split := filepath.Join(where, "split")
				same(".dwo files", split)

				tool := "llvm-dwp"
				if strings.Contains(flags, "dwarf-4") {
					tool = "dwp"
				}
				if cc == "gcc" && tool == "llvm-dwp" {
					t.Log("llvm-dwp takes no DWARF 5 of gcc")
				} else if _, err := exec.LookPath(tool); err == nil {
					do(tool, "-e", "split", "-o", "split.dwp")
					for _, n := range []string{"a", "b"} {
						if err := os.Rename(filepath.Join(where, n+".dwo"),
							filepath.Join(where, n+".kept")); err != nil {
							t.Fatal(err)
						}
					}
					same(".dwp", split)
					os.Remove(filepath.Join(where, "split.dwp"))
				} else {
					t.Logf("%s is not installed", tool)
				}

				// What is not there, and what is of another build, is named.
				says := func(why string) {
					t.Helper()
					d := openData(t, split)
					units, err := d.Units()
					if err != nil {
						t.Fatal(err)
					}
					said := false
					for _, u := range units {
						s, is := u.Split()
						said = said || is && strings.Contains(s, why)
					}
					if !said {
						t.Errorf("nothing says %q", why)
					}
				}
				os.Remove(filepath.Join(where, "a.dwo"))
				says("there is no " + filepath.Join(where, "a.dwo"))
				build("again", "-gsplit-dwarf", "-Dwork=worked")
				says("a.dwo is that of another build")
			})
		}
	}
}

// TestSplitDamage reads .dwo files and packages with wrong bytes: what they say is refused or read, and nothing
// breaks off or runs on.
func TestSplitDamage(t *testing.T) {
	dir := t.TempDir()
	do := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		return cmd.Run()
	}
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(twins), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"-gdwarf-4", "-gdwarf-5"} {
		prog := filepath.Join(dir, "prog")
		if err := do("gcc", "-g", v, "-gsplit-dwarf", "-O2", "-c", "-o", "a.o", "a.c"); err != nil {
			t.Fatal(err)
		}
		if err := do("gcc", "-o", prog, "a.o"); err != nil {
			t.Fatal(err)
		}
		names := []string{"a.dwo"}
		if v == "-gdwarf-4" && do("dwp", "-e", prog, "-o", prog+".dwp") == nil {
			names = append(names, "prog.dwp")
		}
		slices.Reverse(names)
		for _, name := range names {
			path := filepath.Join(dir, name)
			sound, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			read := 0
			for at := 64; at < len(sound); at += 1 + len(sound)/150 {
				b := slices.Clone(sound)
				if b[at] ^= byte(1 + at%255); at%7 == 0 {
					b = b[:at]
				}
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				f, err := elffile.Open(prog)
				if err != nil {
					t.Fatal(err)
				}
				if d, err := dw.Open(f); err != nil {
					t.Errorf("%s %s: with byte %d damaged the program cannot be read at all: %v", v, name, at, err)
				} else {
					funcs, _, _ := d.FindFuncs(func([]byte) bool { return true })
					read += len(funcs)
					for _, fn := range funcs {
						u, tree, err := d.FuncTree(fn.Low)
						if err != nil || tree == nil {
							continue
						}
						for _, x := range dw.AllVars(tree) {
							if ty, err := dwtype.Of(d).TypeOf(x); err == nil {
								u.VarPlace(x, ty, u.Env(tree, fn.Low), fn.Low)
							}
						}
					}
				}
				f.Close()
			}
			if read == 0 {
				t.Errorf("%s %s: nothing could be read", v, name)
			}
			os.Remove(path)
		}
		os.Remove(prog + ".dwp")
	}
}
