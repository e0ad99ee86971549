package x86

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestFieldAt: beginnings of closures, as Go 1.26 made them; RDX (1 in DWARF) points to the closure.
func TestFieldAt(t *testing.T) {
	for _, c := range []struct {
		name, code string
		off, size  int64
		want       FieldUse
	}{
		{"address by add", "44884424374883c228488994 24f0000000", 0x28, 40, FieldInside},
		{"address by lea", "488d4a28", 0x28, 40, FieldInside},
		{"address of something behind", "488d4a30", 0x28, 40, FieldUnknown},
		{"sixteen bytes", "0f104228", 0x28, 40, FieldInside},               // movups 0x28(%rdx),%xmm0
		{"four bytes", "8b4228", 0x28, 40, FieldInside},                    // mov 0x28(%rdx),%eax
		{"second half of the first word", "8b422c", 0x28, 40, FieldInside}, // mov 0x2c(%rdx),%eax
		// mov 0x28(%rdx),%rdx; mov %rdx,0x18(%rsp)
		{"pointer loaded and kept", "488b5228 488954 2418", 0x28, 40, FieldLoaded},
		// mov 0x28(%rdx),%rax; mov 0x8(%rax),%rcx
		{"pointer loaded and used", "488b4228 488b4808", 0x28, 40, FieldThrough},
		{"loaded, overwritten, used", "488b4228 31c0 488b4808", 0x28, 40, FieldLoaded}, // xor %eax,%eax between
		{"another variable", "488b4230 488b4808", 0x28, 40, FieldUnknown},              // mov 0x30(%rdx),%rax
		{"the closure is gone", "31d2 488d4a28", 0x28, 40, FieldUnknown},               // xor %edx,%edx
		{"behind a call", "e800000000 488d4a28", 0x28, 40, FieldUnknown},               // registers are not kept
		{"behind a jump", "eb02 0000 488d4a28", 0x28, 40, FieldInside},                 // jmp over two bytes
		{"cut short", "488d", 0x28, 40, FieldUnknown},                                  //
		{"a small one beside", "440fb64208", 0x10, 16, FieldUnknown},                   // movzbl 0x8(%rdx),%r8d
		{"the part of a small one", "440fb64211", 0x10, 3, FieldInside},                // movzbl 0x11(%rdx),%r8d
		{"the next of a small one", "440fb64213", 0x10, 3, FieldUnknown},               // movzbl 0x13(%rdx),%r8d
		{"add of another number", "4883c220 488d4a28", 0x28, 40, FieldUnknown},         // add $0x20,%rdx
		{"endless", "ebfe", 0x28, 40, FieldUnknown},                                    // jmp to itself
		{"not taken", "7402 31c0 488b4228 488b08", 0x28, 40, FieldThrough},             // je; xor; load; use
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := FieldAt(code, 0x1000, 0x1000, 1, c.off, c.size); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func FuzzFieldAt(f *testing.F) {
	f.Add([]byte{0x48, 0x8d, 0x4a, 0x28}, uint16(0), int64(0x28), int64(40))
	f.Add([]byte{0x48, 0x8b, 0x42, 0x28, 0x48, 0x8b, 0x48, 0x08}, uint16(0), int64(0x28), int64(16))
	f.Fuzz(func(t *testing.T, code []byte, at uint16, off, size int64) {
		FieldAt(code, 0x1000, 0x1000+uint64(at), 1, off, size)
	})
}
