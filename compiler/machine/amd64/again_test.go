package amd64

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestBeginsAgain: what stands at the end of Go's functions for stacks that have to grow.
func TestBeginsAgain(t *testing.T) {
	const rax, rbx = 0, 3
	// cmp 0x10(%r14),%rsp; jbe +1; ret
	const check = "493b6610 7601 c3 "
	for _, c := range []struct {
		name, code string
		ok         bool
		restored   string
	}{
		{"nothing is used", "e8f4ffffff ebf2", true, ""},                            // call; jmp
		{"one is", "4889442408 e8efffffff 488b442408 ebe8", true, "a"},              // mov %rax
		{"a byte is", "88442408 e8f0ffffff 0fb6442408 ebe9", true, "a"},             // movzbl
		{"two are", "4889442408 e8efffffff 488b442408 488b5c2408 ebe3", true, "ab"}, // and %rbx
		{"it jumps elsewhere", "e8f4ffffff ebf3", false, ""},                        //
		{"something else is called", "e8f5ffffff ebf2", false, ""},                  //
		{"two calls", "e8f4ffffff e8efffffff ebed", false, ""},                      //
		{"no call", "ebf7", false, ""},                                              //
		{"cut short", "e8f4ffffff", false, ""},                                      //
		{"a condition", "e8f4ffffff 7400 ebf0", false, ""},                          // je
		{"no operation", "e8f4ffffff 90 ebf1", true, ""},                            // nop
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(check+c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		isMore := func(pc uint64) bool { return pc == 0x1000 }
		a, ok := insn.BeginsAgain(dec, code, 0x1000, 0x1006, isMore, []int{rax, rbx})
		got := ""
		if a.Restored[rax] {
			got += "a"
		}
		if a.Restored[rbx] {
			got += "b"
		}
		if ok != c.ok || ok && (got != c.restored || a.More != 0x1000) {
			t.Errorf("%s: %v %q, %+v", c.name, ok, got, a)
		}
	}
}
