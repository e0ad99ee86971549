package amd64

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestFieldAt: beginnings of closures, as Go 1.26 made them; RDX (1 in DWARF) points to the closure.
func TestFieldAt(t *testing.T) {
	for _, c := range []struct {
		name, code string
		off, size  int64
		want       insn.FieldUse
	}{
		{"address by add", "44884424374883c228488994 24f0000000", 0x28, 40, insn.FieldInside},
		{"address by lea", "488d4a28", 0x28, 40, insn.FieldInside},
		{"address of something behind", "488d4a30", 0x28, 40, insn.FieldUnknown},
		{"sixteen bytes", "0f104228", 0x28, 40, insn.FieldInside},               // movups 0x28(%rdx),%xmm0
		{"four bytes", "8b4228", 0x28, 40, insn.FieldInside},                    // mov 0x28(%rdx),%eax
		{"second half of the first word", "8b422c", 0x28, 40, insn.FieldInside}, // mov 0x2c(%rdx),%eax
		// mov 0x28(%rdx),%rdx; mov %rdx,0x18(%rsp)
		{"pointer loaded and kept", "488b5228 488954 2418", 0x28, 40, insn.FieldLoaded},
		// mov 0x28(%rdx),%rax; mov 0x8(%rax),%rcx
		{"pointer loaded and used", "488b4228 488b4808", 0x28, 40, insn.FieldThrough},
		{"loaded, overwritten, used", "488b4228 31c0 488b4808", 0x28, 40, insn.FieldLoaded}, // xor %eax,%eax between
		{"another variable", "488b4230 488b4808", 0x28, 40, insn.FieldUnknown},              // mov 0x30(%rdx),%rax
		{"the closure is gone", "31d2 488d4a28", 0x28, 40, insn.FieldUnknown},               // xor %edx,%edx
		{"behind a call", "e800000000 488d4a28", 0x28, 40, insn.FieldUnknown},               // registers are not kept
		{"behind a jump", "eb02 0000 488d4a28", 0x28, 40, insn.FieldInside},                 // jmp over two bytes
		{"cut short", "488d", 0x28, 40, insn.FieldUnknown},                                  //
		{"a small one beside", "440fb64208", 0x10, 16, insn.FieldUnknown},                   // movzbl 0x8(%rdx),%r8d
		{"the part of a small one", "440fb64211", 0x10, 3, insn.FieldInside},                // movzbl 0x11(%rdx),%r8d
		{"the next of a small one", "440fb64213", 0x10, 3, insn.FieldUnknown},               // movzbl 0x13(%rdx),%r8d
		{"add of another number", "4883c220 488d4a28", 0x28, 40, insn.FieldUnknown},         // add $0x20,%rdx
		{"endless", "ebfe", 0x28, 40, insn.FieldUnknown},                                    // jmp to itself
		{"not taken", "7402 31c0 488b4228 488b08", 0x28, 40, insn.FieldThrough},             // je; xor; load; use
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := dec.FieldAt(code, 0x1000, 0x1000, 1, c.off, c.size); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func FuzzFieldAt(f *testing.F) {
	f.Add([]byte{0x48, 0x8d, 0x4a, 0x28}, uint16(0), int64(0x28), int64(40))
	f.Add([]byte{0x48, 0x8b, 0x42, 0x28, 0x48, 0x8b, 0x48, 0x08}, uint16(0), int64(0x28), int64(16))
	f.Fuzz(func(t *testing.T, code []byte, at uint16, off, size int64) {
		dec.FieldAt(code, 0x1000, 0x1000+uint64(at), 1, off, size)
	})
}
