package bench

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

// bare is the least that can be done at a site: a hand-written program on the
// instruction that the kernel emulates, attached through one multi link.
type bare struct {
	closers []func() error
	counter *ebpf.Map
	ring    *ringbuf.Reader
}

func (b *bare) Close() {
	for i := len(b.closers) - 1; i >= 0; i-- {
		b.closers[i]()
	}
}

// pushOffset finds the PUSHQ BP behind the stack check of a Go function: its file offset, and its
// distance from the function's first byte.
func pushOffset(tb testing.TB, path, name string) (off, delta uint64) {
	f, err := elf.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range syms {
		if s.Name != name {
			continue
		}
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || s.Value < p.Vaddr || s.Value >= p.Vaddr+p.Filesz {
				continue
			}
			off := s.Value - p.Vaddr + p.Off
			raw, err := os.Open(path)
			if err != nil {
				tb.Fatal(err)
			}
			defer raw.Close()
			code := make([]byte, 32)
			if _, err := raw.ReadAt(code, int64(off)); err != nil {
				tb.Fatal(err)
			}
			// cmp 0x10(%r14),%rsp ; jbe ; push %rbp
			if code[0] == 0x49 && code[1] == 0x3b {
				for i := 4; i < 12; i++ {
					if code[i] == 0x55 {
						return off + uint64(i), uint64(i)
					}
				}
			}
			tb.Fatalf("%s does not begin with a stack check", name)
		}
	}
	tb.Fatalf("no symbol %s", name)
	return 0, 0
}

func startBare(tb testing.TB, path string, off uint64, what string) *bare {
	b := &bare{}
	var insns asm.Instructions
	mk := func(spec *ebpf.MapSpec) *ebpf.Map {
		m, err := ebpf.NewMap(spec)
		if err != nil {
			tb.Fatal(err)
		}
		b.closers = append(b.closers, m.Close)
		return m
	}
	switch what {
	case "empty":
		insns = asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}
	case "n++":
		m := mk(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
		b.counter = m
		insns = asm.Instructions{
			asm.LoadMapValue(asm.R1, m.FD(), 0),
			asm.Mov.Imm(asm.R2, 1),
			asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}
	case "s[pid()] <<< 1":
		m := mk(&ebpf.MapSpec{Type: ebpf.PerCPUHash, KeySize: 8, ValueSize: 8, MaxEntries: 2048})
		b.counter = m
		insns = asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.RSh.Imm(asm.R0, 32),
			asm.StoreMem(asm.RFP, -8, asm.R0, asm.DWord),
			asm.LoadMapPtr(asm.R1, m.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -8),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "miss"),
			asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
			asm.Add.Imm(asm.R1, 1),
			asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
			asm.Mov.Imm(asm.R1, 1).WithSymbol("miss"),
			asm.StoreMem(asm.RFP, -16, asm.R1, asm.DWord),
			asm.LoadMapPtr(asm.R1, m.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -8),
			asm.Mov.Reg(asm.R3, asm.RFP),
			asm.Add.Imm(asm.R3, -16),
			asm.Mov.Imm(asm.R4, 0),
			asm.FnMapUpdateElem.Call(),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}
	case "printf":
		m := mk(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 8 << 20})
		rd, err := ringbuf.NewReader(m)
		if err != nil {
			tb.Fatal(err)
		}
		b.ring = rd
		insns = asm.Instructions{
			asm.Mov.Reg(asm.R6, asm.R1),
			asm.LoadMapPtr(asm.R1, m.FD()),
			asm.Mov.Imm(asm.R2, 24),
			asm.Mov.Imm(asm.R3, 0),
			asm.FnRingbufReserve.Call(),
			asm.JEq.Imm(asm.R0, 0, "out"),
			asm.Mov.Imm(asm.R1, 1),
			asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
			asm.LoadMem(asm.R1, asm.R6, 80, asm.DWord), // ax
			asm.StoreMem(asm.R0, 8, asm.R1, asm.DWord),
			asm.LoadMem(asm.R1, asm.R6, 40, asm.DWord), // bx
			asm.StoreMem(asm.R0, 16, asm.R1, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R0),
			asm.Mov.Imm(asm.R2, 0),
			asm.FnRingbufSubmit.Call(),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return(),
		}
	default:
		tb.Fatalf("no bare program for %q", what)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti,
		Instructions: insns, License: "GPL"})
	if err != nil {
		tb.Fatal(err)
	}
	b.closers = append(b.closers, prog.Close)
	ex, err := link.OpenExecutable(path)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := ex.UprobeMulti(nil, prog, &link.UprobeMultiOptions{Addresses: []uint64{off}})
	if err != nil {
		tb.Fatal(err)
	}
	b.closers = append(b.closers, l.Close)
	return b
}

// drain reads and formats records as text until stop is closed, and gives their number.
func (b *bare) drain(out *os.File, stop chan struct{}) int {
	n := 0
	var rec ringbuf.Record
	var text []byte
	for {
		b.ring.SetDeadline(time.Now().Add(50 * time.Millisecond))
		if err := b.ring.ReadInto(&rec); err != nil {
			select {
			case <-stop:
				return n
			default:
				continue
			}
		}
		text = fmt.Appendf(text[:0], "%d %d\n", binary.LittleEndian.Uint64(rec.RawSample[8:]),
			binary.LittleEndian.Uint64(rec.RawSample[16:]))
		out.Write(text)
		n++
	}
}
