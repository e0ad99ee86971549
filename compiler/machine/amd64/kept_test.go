package amd64

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// TestKept: beginnings of closures, as Go 1.22 made them without optimisation; RDX (1 in DWARF) points to the closure.
func TestKept(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		// lea 0x8(%rdx),%rcx; mov %rcx,0x160(%rsp); mov 0x10(%rdx),%rcx; mov %rcx,0x78(%rsp)
		{"address and word", "488d4a08 48898c2460010000 488b4a10 48894c2478", "160:&8/8 78:10/8 "},
		// push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; movzbl 0x8(%rdx),%ecx; mov %cl,0x10(%rsp)
		{"byte behind a frame", "55 4889e5 4883ec20 0fb64a08 884c2410", "10:8/1 "},
		{"fraction", "f20f104208 f20f11442410", "10:8/8 "},      // movsd
		{"sixteen bytes", "0f104208 0f11442410", "10:8/10 "},    // movups
		{"half of it", "488b4a10 894c2478", ""},                 // mov %ecx,0x78(%rsp)
		{"something else", "488b4a10 31c9 48894c2478", ""},      // xor %ecx,%ecx between
		{"sum", "488b4a10 4883c101 48894c2478", ""},             // add $1,%rcx between
		{"behind a call", "488b4a10 e800000000 48894c2478", ""}, //
		{"behind a jump", "488b4a10 7400 48894c2478", ""},       //
		{"the closure is gone", "31d2 488b4a10 48894c2478", ""}, // xor %edx,%edx
		// mov 0x10(%rdx),%rdx; mov %rdx,0x78(%rsp)
		{"the closure's own register", "488b5210 4889542478 488b4a10 48894c2478", "78:10/8 "},
		{"address by add", "4883c268 48895424 78 4883c208 4889542410", "78:&68/8 "}, // add $0x68,%rdx; then add $8
		{"to the heap", "488b4a10 48894878", ""},                                    // mov %rcx,0x78(%rax)
		{"exchanged", "488b4a10 4887c8 48894c2478", ""},                             // xchg %rcx,%rax
		{"cut short", "488b4a10 4889", ""},                                          //
		{"product", "488b4208 48f7e1 4889442410", ""},                               // mul %rcx
		{"high half", "488b4208 88642410", ""},                                      // mov %ah,0x10(%rsp)
		{"twice", "488b4a10 48894c2478 48898c2480000000", "78:10/8 80:10/8 "},       //
		{"indexed", "488b4c0a10 48894c2478 488b4a10 48894c0478", ""},                // (%rdx,%rcx), (%rsp,%rax)
		{"from another register", "488b4810 48894c2478", ""},                        // mov 0x10(%rax),%rcx
		{"no operation between", "488b4a10 0f1f4000 48894c2478", "78:10/8 "},        // nopl 0x0(%rax)
		{"compared", "488b4a10 4883f900 48894c2478", "78:10/8 "},                    // cmp $0,%rcx
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, k := range dec.Kept(code, 0x1000, 0x1000, 1) {
			and := ""
			if k.Address {
				and = "&"
			}
			got += fmt.Sprintf("%x:%s%x/%x ", k.Slot, and, k.Off, k.Size)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzKept(f *testing.F) {
	f.Add([]byte{0x48, 0x8d, 0x4a, 0x08, 0x48, 0x89, 0x4c, 0x24, 0x60}, uint16(0))
	f.Fuzz(func(t *testing.T, code []byte, at uint16) { dec.Kept(code, 0x1000, 0x1000+uint64(at), 1) })
}
