package amd64

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

var dec = &Decoder{}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		code  string
		len   int // 0: refused
		kind  insn.Kind
		class insn.Class
	}{
		{"55", 1, insn.Push, insn.ClassPush},
		{"4157", 2, insn.Push, insn.ClassPush},
		{"4855", 2, insn.Push, insn.ClassStepped},
		{"6655", 2, insn.Push, insn.ClassStepped},
		{"90", 1, insn.Nop, insn.ClassNop},
		{"6690", 2, insn.Nop, insn.ClassNop},
		{"f390", 2, insn.Nop, insn.ClassNop},
		{"4190", 2, insn.Other, insn.ClassStepped}, // xchg r8, rax
		{"0f1f440000", 5, insn.Nop5, insn.ClassNop5},
		{"0f1f442000", 5, insn.Other, insn.ClassStepped},
		{"0f1f4000", 4, insn.Other, insn.ClassStepped},
		{"660f1f440000", 6, insn.Other, insn.ClassStepped},
		{"eb05", 2, insn.Jump, insn.ClassJump},
		{"e900000000", 5, insn.Jump, insn.ClassJump},
		{"66e90000", 0, insn.Other, 0}, // of two lengths
		{"66e900000000", 0, insn.Other, 0},
		{"7605", 2, insn.CondJump, insn.ClassJump},
		{"0f8600000000", 6, insn.CondJump, insn.ClassJump},
		{"660f86000000", 0, insn.Other, 0},
		{"e3fe", 2, insn.CondJump, insn.ClassStepped},
		{"e800000000", 5, insn.Call, insn.ClassJump},
		{"c3", 1, insn.Ret, insn.ClassRet},
		{"f3c3", 2, insn.Ret, insn.ClassRet},
		{"c20800", 3, insn.Ret, insn.ClassRet},
		{"ffe0", 2, insn.IndirectJump, insn.ClassStepped},
		{"ff24c8", 3, insn.IndirectJump, insn.ClassStepped},
		{"ffd0", 2, insn.IndirectCall, insn.ClassStepped},
		{"ffff", 0, insn.Other, 0},
		{"cc", 1, insn.Trap, insn.ClassRefused},
		{"0f0b", 2, insn.Trap, insn.ClassStepped},
		{"493b6610", 4, insn.Other, insn.ClassStepped},
		{"4c8da42400ffffff", 8, insn.Other, insn.ClassStepped},
		{"48b80102030405060708", 10, insn.Other, insn.ClassStepped},
		{"66b80102", 4, insn.Other, insn.ClassStepped},
		{"f6c001", 3, insn.Other, insn.ClassStepped},
		{"f6d0", 2, insn.Other, insn.ClassStepped},
		{"c5f877", 3, insn.Other, insn.ClassStepped},         // vzeroupper
		{"c4e37d18c001", 6, insn.Other, insn.ClassStepped},   // vinsertf128
		{"62f1fd486f4701", 7, insn.Other, insn.ClassRefused}, // vmovdqa64 zmm0, [rdi+64]
		{"62f1f9486f4701", 0, insn.Other, 0},                 // a reserved bit
		{"66c5f877", 0, insn.Other, 0},
		{"c5fe6f06", 4, insn.Other, insn.ClassRefused}, // vmovdqu ymm0, [rsi]
		{"f00fc108", 4, insn.Other, insn.ClassRefused}, // lock xadd
		{"0fc108", 3, insn.Other, insn.ClassStepped},   // xadd
		{"f0ff00", 3, insn.Other, insn.ClassRefused},   // lock inc
		{"64488b0c25f8ffffff", 9, insn.Other, insn.ClassStepped},
		{"2e0f1f840000000000", 9, insn.Other, insn.ClassRefused}, // cs nopw
		{"f4", 1, insn.Trap, insn.ClassRefused},
		{"0f05", 2, insn.Other, insn.ClassStepped},
		{"06", 0, insn.Other, 0},
		{"0f04", 0, insn.Other, 0},
		{"d500", 0, insn.Other, 0},
		{"", 0, insn.Other, 0},
		{"48", 0, insn.Other, 0},
		{"666666666666666666666666666690", 15, insn.Nop, insn.ClassNop},
		{"66666666666666666666666666666690", 0, insn.Other, 0},
	} {
		b, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		in, err := insn.Decode(dec, b)
		if c.len == 0 {
			if err == nil {
				t.Errorf("%s: decoded to %+v", c.code, in)
			}
			continue
		}
		if err != nil || in.Len != c.len || in.Kind != c.kind || in.Class() != c.class {
			t.Errorf("%s: %+v, class %v, %v; want length %d kind %d class %v", c.code, in, in.Class(), err, c.len,
				c.kind, c.class)
		}
		for n := range b {
			if in, err := insn.Decode(dec, b[:n]); err == nil && c.len == len(b) && in.Len >= c.len {
				t.Errorf("%s: decoded to %+v from %d bytes", c.code, in, n)
			}
		}
	}
}

// TestAgainstObjdump compares the instruction lengths of a library that uses most of the
// instruction set, vector extensions included.
func TestAgainstObjdump(t *testing.T) {
	lib := os.Getenv("X86_TEST_BINARY")
	if lib == "" {
		lib = "/lib/x86_64-linux-gnu/libm.so.6"
	}
	f, err := elf.Open(lib)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip(err)
	}
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(objdump, "-d", "--insn-width=16", "--no-show-raw-insn", "-j", ".text", lib)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	type line struct {
		at   uint64
		text string
	}
	var prev line
	count, bad := 0, 0
	check := func(next uint64) {
		// objdump joins fwait with the next
		if prev.text == "" || strings.Contains(prev.text, "(bad)") || strings.HasPrefix(prev.text, "data16") ||
			code[prev.at-text.Addr] == 0x9b {
			return
		}
		count++
		off := prev.at - text.Addr
		in, err := insn.Decode(dec, code[off:])
		if err != nil || prev.at+uint64(in.Len) != next {
			if bad++; bad <= 20 {
				t.Errorf("%#x %s: length %d, want %d (% x) %v", prev.at, prev.text, in.Len, next-prev.at,
					code[off:off+12], err)
			}
		}
		want := insn.Other
		switch op := strings.TrimPrefix(prev.text, "bnd "); {
		case strings.HasPrefix(op, "ret"), strings.HasPrefix(op, "repz ret"):
			want = insn.Ret
		case strings.HasPrefix(op, "jmp "):
			want = insn.Jump
			if indirect(op) {
				want = insn.IndirectJump
			}
		case strings.HasPrefix(op, "j"):
			want = insn.CondJump
		case strings.HasPrefix(op, "call "):
			want = insn.Call
			if indirect(op) {
				want = insn.IndirectCall
			}
		default:
			return
		}
		if in.Kind != want {
			t.Errorf("%#x %s: kind %d, want %d", prev.at, prev.text, in.Kind, want)
		}
		if want == insn.Jump || want == insn.CondJump || want == insn.Call {
			if f := strings.Fields(prev.text); len(f) > 1 {
				if to, err := strconv.ParseUint(f[len(f)-2], 16, 64); err == nil &&
					strings.HasPrefix(f[len(f)-1], "<") && in.Target(prev.at) != to {
					t.Errorf("%#x %s: target %#x", prev.at, prev.text, in.Target(prev.at))
				}
			}
		}
	}
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		at, text, ok := strings.Cut(sc.Text(), ":\t")
		if !ok {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSpace(at), 16, 64)
		if err != nil {
			continue
		}
		check(addr)
		prev = line{addr, strings.TrimSpace(text)}
	}
	cmd.Wait()
	t.Logf("%s: %d instructions, %d differ", lib, count, bad)
	if count < 1000 {
		t.Errorf("only %d instructions", count)
	}
}

// indirect tells the operands *%rax and *0x8(%rax) from labels with a star.
func indirect(op string) bool {
	op, _, _ = strings.Cut(op, "<")
	return strings.Contains(op, " *")
}

// FuzzDecode compares with x86asm where both know the instruction.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"55", "493b6610", "0f8600000000", "62f1fd486f4701", "c4e37d18c001", "8fe97801c0",
		"f20f78c00102"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := insn.Decode(dec, b)
		if err != nil {
			return
		}
		if in.Len <= 0 || in.Len > len(b) || in.Len > 15 {
			t.Fatalf("% x: length %d", b, in.Len)
		}
		if c := in.Class(); c > insn.ClassRefused || in.Target(0) != uint64(in.Len)+uint64(in.Rel) {
			t.Fatalf("% x: class %d", b, c)
		}
		ref, err := x86asm.Decode(b, 64)
		if err != nil || ref.Op == 0 {
			return
		}
		// x86asm gives prefixes before VEX and some others as instructions of their own.
		if ref.Len != in.Len && ref.Prefix[0]&x86asm.PrefixInvalid == 0 && ref.Len > 1 && !quirk(b[:in.Len], ref) {
			t.Fatalf("% x: length %d, x86asm says %d (%v)", b[:in.Len], in.Len, ref.Len, ref)
		}
	})
}

// quirk knows where x86asm differs from processors.
func quirk(b []byte, ref x86asm.Inst) bool {
	switch b[0] {
	case 0x62, 0x8f, 0xc4, 0xc5: // EVEX, XOP, VEX: hardly known to it
		return true
	}
	for _, p := range ref.Prefix {
		if p == 0 {
			break
		}
		if p&x86asm.PrefixImplicit == 0 && (p&0xff == 0x66 || p&0xff == 0xf2 || p&0xff == 0xf3 || p&0xff == 0x67 ||
			p&0xff == 0xf0) {
			return true // operand size and repeat prefixes on instructions that ignore them
		}
	}
	return false
}
