package amd64_test

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/machine/amd64"
	"github.com/gostap/gostap/compiler/machine/insn"
)

var dec = &amd64.Decoder{}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFindEntry(t *testing.T) {
	const at = 0x1000
	pad := " cccccccccccccccccccccccccccccccc"
	for _, c := range []struct {
		name, code string
		off        uint64
		check      bool
		err        string
	}{
		{"small frame", "493b6610 7610 55 4889e5 c3", 6, true, ""},
		{"small frame, far jump", "493b6610 0f8610000000 55 4889e5 c3", 10, true, ""},
		{"system stack", "493b6618 7610 55 4889e5 c3", 6, true, ""},
		{"large frame", "4c8da42400ffffff 4d3b6610 7610 55 c3", 14, true, ""},
		{"large frame, short form", "4c8d6424f8 4d3b6610 7610 55 c3", 11, true, ""},
		{"huge frame", "4989e4 4981ec00000100 7212 4d3b6610 760c 55 c3", 18, true, ""},
		{"ABI0, thread-local", "644c8b3425f8ffffff 493b6610 7610 55 c3", 15, true, ""},
		{"ABI0, PIE", "4c8b3511111111 644d8b36 493b6610 7610 55 c3", 17, true, ""},
		{"ABI0, PIE, relaxed", "49c7c6f8ffffff 644d8b36 493b6610 7610 55 c3", 17, true, ""},
		{"Go 1.16", "64488b0c25f8ffffff 483b6110 7610 4883ec18 c3", 15, true, ""},
		{"Go 1.16, large frame", "64488b0c25f8ffffff 488d842400ffffff 483b4110 7610 4881ec00010000 c3", 23, true, ""},
		{"Go 1.16, larger frame", "64488b0c25f8ffffff 488b7110 4881fedefaffff 7412 488d8424a0030000 4829f0 " +
			"483d687a0100 760a 4881ec48770100 c3", 41, true, ""},
		{"no check", "55 4889e5 c3", 0, false, ""},
		{"leaf", "4801d8 c3", 0, false, ""},
		{"another register", "493b6710 7610 55 c3", 0, false, ""},
		{"another offset", "493b6620 7610 55 c3", 0, false, ""},
		{"jump out", "493b6610 767f 55 c3", 0, false, ""},
		{"jump back", "493b6610 7680 55 c3", 0, false, ""},
		{"another condition", "493b6610 7210 55 c3", 0, false, ""},
		{"loop", "4801d8 75fb c3", 0, false, "also the target of a jump at 0x1003"},
		{"unknown check", "4883ec08 e8f7ff0000 c3", 0, false, "a stack check of an unknown form at 0x1004"},
		{"bad code", "4801d8 06 c3", 0, false, "does not decode at 0x1003: unknown instruction"},
		{"bad code, framed", "55 06 c3", 0, false, ""},
		{"bad code behind the check", "493b6610 7610 06 c3", 0, false,
			"behind the stack check does not decode at 0x1006"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := insn.FindEntry(dec, unhex(t, c.code+pad), at, func(to uint64) bool { return to == 0x11000 })
			if c.err != "" {
				var ce *insn.CodeError
				if !errors.As(err, &ce) || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%+v, %v; want %q", e, err, c.err)
				}
				return
			}
			if err != nil || e.PC != at+c.off || e.Check != c.check {
				t.Errorf("%+v, %v; want %#x", e, err, at+c.off)
			}
		})
	}
	if e, err := insn.FindEntry(dec, nil, at, nil); err != nil || e.PC != at {
		t.Errorf("no code: %+v, %v", e, err)
	}
}

func TestFindExits(t *testing.T) {
	for _, c := range []struct {
		name, code string
		asm        bool
		marks      []uint64
		want       string
	}{
		{"two returns", "85c0 7401 c3 48ffc0 c3 cccc", false, nil, "ret 0x4 ret 0x8"},
		{"none", "0f0b", false, nil, ""},
		{"tail", "e9fb0f0000", false, nil, "tail 0x0 -> 0x1000"},
		{"loop", "ebfe", false, nil, ""},
		{"computed tail", "ffe1", false, nil, "tail 0x0 -> 0x0"},
		{"table", "ff24c8 c3", false, nil, "ret 0x3"},
		{"assembly, computed", "ffe1", true, nil, "jumps to a computed address at 0x0"},
		{"assembly, table", "ff24c8 c3", true, nil, "jumps to a computed address at 0x0"},
		{"conditional", "0f8400100000 c3", false, nil, "left by a conditional jump at 0x0"},
		{"not code", "90 06 c3", false, nil, "does not decode at 0x1: unknown instruction: 06 c3"},
		{"marks", "48ffc0 c3", true, []uint64{0, 3}, "ret 0x3"},
		{"marks within", "48ffc0 c3", true, []uint64{0, 2}, "line table at 0x2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exits, err := insn.FindExits(dec, unhex(t, c.code), 0, c.asm, c.marks)
			if cerr := insn.Check(dec, unhex(t, c.code), 0, c.marks); (cerr != nil) != (err != nil &&
				strings.Contains(err.Error(), "decode")) {
				t.Errorf("Check: %v", cerr)
			}
			var got []string
			for _, e := range exits {
				s := fmt.Sprintf("ret %#x", e.PC)
				if e.Tail {
					s = fmt.Sprintf("tail %#x -> %#x", e.PC, e.Target)
				}
				got = append(got, s)
			}
			if err != nil {
				if !strings.HasSuffix(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
			} else if g := strings.Join(got, " "); g != c.want {
				t.Errorf("%s, want %s", g, c.want)
			}
		})
	}
}

func TestAt(t *testing.T) {
	code := unhex(t, "48ffc0 55 c3")
	if in, err := insn.At(dec, code, 0x100, 0x103); err != nil || in.Kind != insn.Push {
		t.Errorf("%+v, %v", in, err)
	}
	for _, pc := range []uint64{0x101, 0xff, 0x105} {
		if in, err := insn.At(dec, code, 0x100, pc); err == nil {
			t.Errorf("%#x: %+v", pc, in)
		}
	}
}

type plainFile struct{ *elf.File }

func (p plainFile) ELF() *elf.File                      { return p.File }
func (p plainFile) Section(name string) ([]byte, error) { return p.File.Section(name).Data() }

func (p plainFile) Bytes(addr uint64, n int) ([]byte, error) {
	for _, g := range p.Progs {
		if g.Type == elf.PT_LOAD && addr >= g.Vaddr && addr-g.Vaddr < g.Filesz {
			b := make([]byte, min(uint64(n), g.Filesz-(addr-g.Vaddr)))
			_, err := g.ReadAt(b, int64(addr-g.Vaddr))
			return b, err
		}
	}
	return nil, errors.New("no such address")
}

// TestGoProgram looks at every function of a Go program (this test): a stack check is seen where, and
// only where, the function calls runtime.morestack, and behind every check there is the push.
func TestGoProgram(t *testing.T) {
	path := os.Getenv("X86_TEST_BINARY")
	if path == "" {
		var err error
		if path, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tab, err := pclntab.Open(plainFile{f})
	if err != nil {
		t.Fatal(err)
	}
	more := map[uint64]bool{}
	for _, n := range []string{"runtime.morestack", "runtime.morestack_noctxt", "runtime.morestackc"} {
		for _, i := range tab.Named(n) {
			more[tab.Entry(i)] = true
		}
	}
	var checks, pushes, leaves, noRet, rets, tails int
	refused := map[string][]string{}
	for i := range tab.Len() {
		entry, name := tab.Entry(i), tab.Name(i)
		code, err := plainFile{f}.Bytes(entry, int(tab.CodeEnd(i)-entry))
		if err != nil || len(code) == 0 {
			continue
		}
		asm := tab.Flags(i)&pclntab.FlagAsm != 0
		grows := false
		insn.Walk(dec, code, entry, func(pc uint64, in insn.Inst) bool {
			grows = grows || in.Kind == insn.Call && more[in.Target(pc)]
			return true
		})
		e, err := insn.FindEntry(dec, code, entry, func(a uint64) bool { return more[a] })
		switch {
		case err != nil:
			reason := err.(*insn.CodeError).Reason
			// Of compiled functions, only leaves without a frame can begin with their loop.
			if d, _ := tab.StackDepth(i, tab.CodeEnd(i)-1); !asm &&
				(!strings.Contains(reason, "first instruction") || d != 0) {
				t.Errorf("%s: %v", name, err)
			}
			refused[reason] = append(refused[reason], name)
		case e.Check != grows:
			t.Errorf("%s: stack check %v, calls morestack %v", name, e.Check, grows)
		case e.Check && e.Inst.Kind != insn.Push:
			t.Errorf("%s: no push behind the stack check at %#x", name, e.PC)
		case e.Check:
			checks++
		case e.Inst.Kind == insn.Push:
			pushes++
		default:
			leaves++
		}
		var marks []uint64
		for _, r := range tab.Rows(i) {
			marks = append(marks, r.Lo)
		}
		exits, err := insn.FindExits(dec, code, entry, asm, marks)
		if err != nil {
			if !asm {
				t.Errorf("%s: %v", name, err)
			}
			reason := "exits: " + err.(*insn.CodeError).Reason
			refused[reason] = append(refused[reason], name)
			continue
		}
		if len(exits) == 0 {
			noRet++
		}
		for _, x := range exits {
			if x.Tail {
				tails++
			} else {
				rets++
			}
			// Frames are gone at an exit.
			if d, ok := tab.StackDepth(i, x.PC); ok && d != 0 && !asm {
				t.Errorf("%s: %d bytes on the stack at the exit %#x", name, d, x.PC)
			}
		}
	}
	t.Logf("%d functions: %d check and push, %d push, %d neither; %d without exit, %d returns, %d tail jumps",
		tab.Len(), checks, pushes, leaves, noRet, rets, tails)
	for r, l := range refused {
		t.Logf("refused, %s: %d: %v", r, len(l), l[:min(len(l), 40)])
	}
	if checks < tab.Len()/2 || rets < tab.Len()/2 {
		t.Error("hardly any found")
	}
	exits, _ := insn.FindExits(dec, nil, 0, false, nil)
	if !reflect.DeepEqual(exits, []insn.Exit(nil)) {
		t.Errorf("exits of no code: %v", exits)
	}
}

// FuzzFlow: whatever the bytes, results lie within them and begin instructions.
func FuzzFlow(f *testing.F) {
	for _, s := range []string{"493b6610761055c3", "4c8da42400ffffff4d3b6610761055c3",
		"4989e44981ec0000010072124d3b6610760c55c3", "85c07401c348ffc0c3", "ff24c8ffe1e9fb0f0000"} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		starts := map[uint64]bool{}
		insn.Walk(dec, code, 64, func(pc uint64, in insn.Inst) bool { starts[pc] = true; return true })
		if e, err := insn.FindEntry(dec, code, 64, func(a uint64) bool { return a == 0 }); err == nil &&
			len(code) > 0 &&
			e.PC != 64 && !starts[e.PC] {
			t.Errorf("entry %#x begins no instruction", e.PC)
		}
		exits, err := insn.FindExits(dec, code, 64, len(code)&1 == 0, nil)
		if err != nil && exits != nil {
			t.Error("exits with an error")
		}
		for _, x := range exits {
			if !starts[x.PC] {
				t.Errorf("exit %#x begins no instruction", x.PC)
			}
		}
	})
}

func BenchmarkFunctions(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	f, err := elf.Open(exe)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	tab, err := pclntab.Open(plainFile{f})
	if err != nil {
		b.Fatal(err)
	}
	base := tab.Entry(0)
	text, err := plainFile{f}.Bytes(base, int(tab.Entry(tab.Len())-base))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 1) % tab.Len()
		code := text[tab.Entry(i)-base : tab.End(i)-base]
		insn.FindEntry(dec, code, tab.Entry(i), nil)
		insn.FindExits(dec, code, tab.Entry(i), true, nil)
	}
}
