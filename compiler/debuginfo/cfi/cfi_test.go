package cfi

import (
	"encoding/binary"
	"errors"
	"testing"

	arch "github.com/gostap/gostap/compiler/machine"
)

// entry is what gcc writes: CFA at RSP+8, the return address below it.
// Registers of amd64.
const BX, BP, SP, IP = 3, 6, 7, 16

func entry(insns ...byte) *Entry {
	return &Entry{Machine: arch.AMD64, CodeAlign: 1,
		DataAlign: -8, RetReg: IP, Initial: []byte{0x0c, 7, 8, 0x80 | 16, 1}, Begin: 0x1000,
		End: 0x1100, Insns: insns}
}

// TestCaller walks through a function as the processor does: at each pc the caller's registers are those that it had.
func TestCaller(t *testing.T) {
	// push %rbp (1 byte); mov %rsp,%rbp (3); push %rbx (1); ...; leave at +0x20, remembered; after it the code goes on.
	e := entry(0x41, 0x0e, 16, 0x80|6, 2, 0x43, 0x0d, 6, 0x41, 0x80|3, 3, 0x02, 0x1b, 0x0a, 0x0c, 7, 8, 0xc0|6, 0xc0|3,
		0x41, 0x0b)
	stack := make([]byte, 64)
	mem := &Memory{Base: 0x7000, Bytes: stack}
	put := func(at, v uint64) { binary.LittleEndian.PutUint64(stack[at-mem.Base:], v) }
	put(0x7020, 0x4242) // return address; CFA 0x7028
	put(0x7018, 0xb9)   // the caller's rbp
	put(0x7010, 0xb8)   // and rbx
	for _, c := range []struct{ off, sp, bp, bx uint64 }{
		{0, 0x7020, 0xb9, 0xb8}, {1, 0x7018, 0xb9, 0xb8}, {4, 0x7018, 0x7018, 0xb8}, {5, 0x7010, 0x7018, 1},
		{0x1f, 0x7000, 0x7018, 1},
		{0x20, 0x7020, 0xb9, 0xb8}, {0x21, 0x7008, 0x7018, 1},
	} {
		r, err := e.At(0x1000 + c.off)
		if err != nil {
			t.Fatal(err)
		}
		var regs, out Regs
		regs.Set(SP, c.sp)
		regs.Set(BP, c.bp)
		regs.Set(BX, c.bx)
		regs.Set(IP, 0x1000+c.off)
		if err := r.Caller(&regs, mem, &out); err != nil {
			t.Fatalf("+%#x: %v", c.off, err)
		}
		if out.Val[IP] != 0x4242 || out.Val[SP] != 0x7028 || out.Val[BP] != 0xb9 || out.Val[BX] != 0xb8 {
			t.Errorf("+%#x: %x", c.off, out.Val)
		}
	}
	// What was not sent is not known, not 0.
	r, _ := e.At(0x1000)
	var regs, out Regs
	regs.Set(SP, 0x8000)
	if err := r.Caller(&regs, mem, &out); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// TestLinkage is the expression that linkers write for entries of the procedure linkage table: 8 bytes more from
// the 11th byte of each 16 on.
func TestLinkage(t *testing.T) {
	e := entry(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)
	for pc, want := range map[uint64]uint64{0x1010: 0x7010, 0x101a: 0x7010, 0x101b: 0x7018, 0x101f: 0x7018} {
		r, err := e.At(pc)
		if err != nil {
			t.Fatal(err)
		}
		var regs Regs
		regs.Set(SP, 0x7008)
		regs.Set(IP, pc)
		if cfa, err := r.Frame(&regs, &Memory{}); err != nil || cfa != want {
			t.Errorf("%#x: %#x %v, want %#x", pc, cfa, err, want)
		}
	}
}

// FuzzEntry: no bytes make it panic, run for ever or give a caller of which nothing is known.
func FuzzEntry(f *testing.F) {
	f.Add([]byte{0x0c, 7, 8, 0x80 | 16, 1}, []byte{0x41, 0x0e, 16, 0x80 | 6, 2, 0x43, 0x0d, 6, 0x0a, 0x0b}, uint8(3),
		make([]byte, 64))
	f.Add([]byte{0x0c, 7, 8, 0x90, 1}, []byte{0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22},
		uint8(20), make([]byte, 8))
	f.Add([]byte{0x0f, 3, 0x77, 0xa0, 1, 0x16, 16, 4, 0x77, 8, 0x06, 0x12, 0x2f, 0xfd, 0xff},
		[]byte{0x10, 3, 5, 0x28, 0xfb, 0xff, 0x94, 4}, uint8(0), make([]byte, 16))
	f.Fuzz(func(t *testing.T, initial, insns []byte, at uint8, stack []byte) {
		e := &Entry{Machine: arch.AMD64, CodeAlign: 1,
			DataAlign: -8, RetReg: IP, Initial: initial, Begin: 0x1000, End: 0x1100, Insns: insns}
		r, err := e.At(0x1000 + uint64(at))
		rows, _ := e.Rows()
		packed := Find(Table([]Piece{{Begin: e.Begin, End: e.End, Rows: rows}}), 0x1000+uint64(at))
		if err != nil {
			if packed != Packed(PackUnknown) {
				t.Errorf("%#x where there are no rules: %v", packed, err)
			}
			return
		}
		if want := r.Pack(); packed != want && packed != Packed(PackUnknown) {
			t.Errorf("%#x, want %#x", packed, want)
		}
		var regs, out Regs
		for n := range NRegs {
			regs.Set(n, 0x7000+8*uint64(n))
		}
		if r.Outermost {
			return
		}
		if err := r.Caller(&regs, &Memory{Base: 0x7000, Bytes: stack}, &out); err == nil && out.Known>>IP&1 == 0 {
			t.Error("a caller without an address")
		}
	})
}
