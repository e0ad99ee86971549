package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/compiler/ir/interp"
)

// op is one change of 8 bytes of an element.
type op struct {
	kind opKind
	off  int // in the element's value
	val  uint64
}

// opKind says how. The upper bits of an opAddCarry hold the offset of the word that takes the carry.
type opKind uint32

const (
	opStore opKind = iota
	opAdd
	opMax // unsigned
	opAddCarry
)

// The argument block of the programs, in a mapped array:
//
//	u64 status: 0 changed, 1 inserted, else a negative error number
//	u64 value before the first operation, if that is an addition
//	u32 number of operations, u32 0
//	maxOps times: u32 kind, u32 offset, u64 operand
//	the key, in whole words
//	the value of a new element
const (
	argStatus = 0
	argOld    = 8
	argN      = 16
	argOps    = 24
	opSize    = 16
	maxOps    = 80
	argKey    = argOps + maxOps*opSize
)

// applier holds a program for each map that the host has changed so far.
type applier struct {
	progs map[*load.Map]*applyProg
}

type applyProg struct {
	col   *load.Collection
	prog  int
	arg   []byte
	value int // where the value of a new element begins
}

// change makes ops on the element key, which is inserted if it is not there. It gives the Long that the first
// operation added to.
func (s *Store) change(g *global, key []byte, ops []op) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.applier(g)
	if err != nil {
		return 0, s.fail(g, "change", err)
	}
	var first int64
	for at := 0; at == 0 || at < len(ops); at += maxOps {
		old, fresh, err := s.run(g, p, key, ops, at)
		if err != nil {
			return 0, err
		}
		if fresh {
			return 0, nil // made with all of ops in it
		}
		if at == 0 {
			first = old
		}
	}
	return first, nil
}

// run makes up to maxOps operations from the one at on. fresh says that the element was not there and has been
// made, with all of ops.
func (s *Store) run(g *global, p *applyProg, key []byte, ops []op, at int) (old int64, made bool, err error) {
	a := p.arg
	copy(a[argKey:p.value], key)
	fresh := a[p.value : p.value+int(g.m.ValueSize)]
	clear(fresh)
	for _, o := range ops {
		// On zeros every operation but the carry, of which there is none, is a store.
		le.PutUint64(fresh[o.off:], o.val)
	}
	n := min(len(ops)-at, maxOps)
	for i, o := range ops[at : at+n] {
		b := a[argOps+i*opSize:]
		le.PutUint32(b, uint32(o.kind))
		le.PutUint32(b[4:], uint32(o.off))
		le.PutUint64(b[8:], o.val)
	}
	le.PutUint32(a[argN:], uint32(n))
	for try := 0; ; try++ {
		if g.SeqOff >= 0 {
			le.PutUint64(fresh[g.SeqOff:], s.nextSeq())
		}
		le.PutUint64(a[argStatus:], uint64(1<<32))
		if _, err := kern.TestRun(p.prog, packet[:], 1); err != nil {
			if errors.Is(err, unix.EINTR) && le.Uint64(a[argStatus:]) == 1<<32 {
				continue
			}
			if !errors.Is(err, unix.EINTR) {
				return 0, false, s.fail(g, "change", err)
			}
		}
		switch st := int64(le.Uint64(a[argStatus:])); {
		case st == 0:
			return int64(le.Uint64(a[argOld:])), false, nil
		case st == 1:
			return 0, true, nil
		case st == -int64(unix.E2BIG), st == -int64(unix.ENOSPC):
			if !g.g.Wrap || g.SeqOff < 0 || try > 20 {
				return 0, false, interp.ErrFull
			}
			if err := s.evict(g); err != nil {
				return 0, false, err
			}
		case (st == -int64(unix.ENOMEM) || st == -int64(unix.EEXIST) || st == -int64(unix.EBUSY) ||
			st == -int64(unix.EAGAIN)) && try < 200:
			// The kernel fills its pool of elements from another context, a moment later.
			if try > 3 {
				time.Sleep(100 * time.Microsecond)
			}
		default:
			return 0, false, s.fail(g, "change", fmt.Errorf("the kernel says %w", unix.Errno(-st)))
		}
	}
}

// evict removes the oldest element of an array with "%".
func (s *Store) evict(g *global) error {
	var oldest []byte
	var least uint64
	span := g.vs * s.copies(g)
	err := s.batches(g, false, func(keys, vals []byte, n int) {
		for j := range n {
			seq := le.Uint64(vals[j*span+g.SeqOff:])
			if oldest == nil || seq < least {
				least, oldest = seq, append(oldest[:0], keys[j*g.ks:(j+1)*g.ks]...)
			}
		}
	})
	if err != nil || oldest == nil {
		return err
	}
	if err := kern.Delete(g.m.FD(), oldest); err != nil && !errors.Is(err, unix.ENOENT) {
		return s.fail(g, "evict from", err)
	}
	return nil
}

// packet is what the programs are run on; they do not look at it.
var packet [64]byte

// applier makes the program for g's map.
func (s *Store) applier(g *global) (*applyProg, error) {
	if p := s.apply.progs[g.m]; p != nil {
		return p, nil
	}
	keySpan := (g.ks + 7) &^ 7
	p := &applyProg{value: argKey + keySpan}
	size := p.value + (int(g.m.ValueSize)+7)&^7
	args := &ebpf.MapSpec{Name: "gostap_args", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1,
		Flags: kern.FlagMmapable}
	insns := applyProgram(g.m.FD(), int(g.m.ValueSize), p.value)
	var err error
	p.col, err = load.Load(&ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{"args": args},
		Programs: map[string]*ebpf.ProgramSpec{"gostap_apply": {Type: ebpf.SocketFilter, Instructions: insns,
			License: "GPL"}},
	}, load.Options{})
	if err != nil {
		return nil, err
	}
	p.prog = p.col.Progs["gostap_apply"].FD()
	if p.arg, err = unix.Mmap(p.col.Maps["args"].FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED); err != nil {
		p.col.Close()
		return nil, err
	}
	if s.apply.progs == nil {
		s.apply.progs = map[*load.Map]*applyProg{}
	}
	s.apply.progs[g.m] = p
	return p, nil
}

// Close frees the programs.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.apply.progs {
		unix.Munmap(p.arg)
		p.col.Close()
	}
	s.apply.progs = nil
}

// applyProgram writes the program: look the key up, insert it with the new value if it is not there, else
// make the operations in place.
func applyProgram(mapFD, valueSize, argValue int) asm.Instructions {
	const (
		arg  = asm.R6
		elem = asm.R7
		i    = asm.R8
		o    = asm.R9 // the operation
	)
	last := int32(valueSize - 8)
	at := func(ins asm.Instruction, label string) asm.Instruction { return ins.WithSymbol(label) }
	lookup := func(label string) asm.Instructions {
		return asm.Instructions{
			at(asm.LoadMapPtr(asm.R1, mapFD), label),
			asm.Mov.Reg(asm.R2, arg), asm.Add.Imm(asm.R2, argKey),
			asm.FnMapLookupElem.Call(),
		}
	}
	var p asm.Instructions
	p = append(p, asm.LoadMapValue(arg, 0, 0).WithReference("args"))
	p = append(p, lookup("first")...)
	p = append(p,
		asm.JNE.Imm(asm.R0, 0, "found"),
		asm.LoadMapPtr(asm.R1, mapFD),
		asm.Mov.Reg(asm.R2, arg), asm.Add.Imm(asm.R2, argKey),
		asm.Mov.Reg(asm.R3, arg), asm.Add.Imm(asm.R3, int32(argValue)),
		asm.Mov.Imm(asm.R4, kern.UpdateNew),
		asm.FnMapUpdateElem.Call(),
		asm.LSh.Imm(asm.R0, 32), asm.ArSh.Imm(asm.R0, 32), // an int, of which older kernels leave the upper half empty
		asm.Mov.Imm(asm.R1, 1),
		asm.JEq.Imm(asm.R0, 0, "status"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.JNE.Imm(asm.R0, -int32(unix.EEXIST), "status"),
	)
	p = append(p, lookup("second")...)
	p = append(p,
		asm.JNE.Imm(asm.R0, 0, "found"),
		asm.Mov.Imm(asm.R1, -int32(unix.EAGAIN)),
		at(asm.StoreMem(arg, argStatus, asm.R1, asm.DWord), "status"),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),

		at(asm.Mov.Reg(elem, asm.R0), "found"),
		asm.Mov.Imm(i, 0),

		// for i := 0; i < n && i < maxOps; i++
		at(asm.JGE.Imm(i, maxOps, "done"), "loop"),
		asm.LoadMem(asm.R1, arg, argN, asm.Word),
		asm.JGE.Reg(i, asm.R1, "done"),
		asm.Mov.Reg(o, i), asm.Mul.Imm(o, opSize), asm.Add.Reg(o, arg),
		asm.LoadMem(asm.R2, o, argOps+4, asm.Word), // offset
		asm.And.Imm(asm.R2, -8),                    // which it is a multiple of; the verifier wants to see it
		asm.JGT.Imm(asm.R2, last, "done"),
		asm.Mov.Reg(asm.R3, elem), asm.Add.Reg(asm.R3, asm.R2), // the word
		asm.LoadMem(asm.R4, o, argOps+8, asm.DWord), // operand
		asm.LoadMem(asm.R1, o, argOps, asm.Word),    // kind
		asm.Mov.Reg(asm.R5, asm.R1), asm.And.Imm(asm.R1, 0xff),
		asm.JEq.Imm(asm.R1, int32(opAdd), "add"),
		asm.JEq.Imm(asm.R1, int32(opMax), "max"),
		asm.JEq.Imm(asm.R1, int32(opAddCarry), "carry"),
		asm.StoreMem(asm.R3, 0, asm.R4, asm.DWord),
		asm.Ja.Label("next"),

		at(asm.FetchAdd.Mem(asm.R3, asm.R4, asm.DWord, 0), "add"),
		asm.JNE.Imm(i, 0, "next"),
		asm.StoreMem(arg, argOld, asm.R4, asm.DWord),
		asm.Ja.Label("next"),

		// The sum's low word; if it wrapped, the high word grows by one.
		at(asm.Mov.Reg(asm.R2, asm.R4), "carry"),
		asm.FetchAdd.Mem(asm.R3, asm.R4, asm.DWord, 0),
		asm.Add.Reg(asm.R4, asm.R2),
		asm.JGE.Reg(asm.R4, asm.R2, "next"),
		asm.RSh.Imm(asm.R5, 8),
		asm.And.Imm(asm.R5, -8),
		asm.JGT.Imm(asm.R5, last, "done"),
		asm.Mov.Reg(asm.R3, elem), asm.Add.Reg(asm.R3, asm.R5),
		asm.Mov.Imm(asm.R4, 1),
		asm.AddAtomic.Mem(asm.R3, asm.R4, asm.DWord, 0),
		asm.Ja.Label("next"),

		// Eight tries: each fails only when somebody else raised the word in between.
		at(asm.Mov.Imm(asm.R5, 0), "max"),
		at(asm.LoadMem(asm.R0, asm.R3, 0, asm.DWord), "again"),
		asm.JGE.Reg(asm.R0, asm.R4, "next"),
		asm.Mov.Reg(asm.R2, asm.R0),
		asm.CmpXchg.Mem(asm.R3, asm.R4, asm.DWord, 0),
		asm.JEq.Reg(asm.R0, asm.R2, "next"),
		asm.Add.Imm(asm.R5, 1),
		asm.JLT.Imm(asm.R5, 8, "again"),

		at(asm.Add.Imm(i, 1), "next"),
		asm.Ja.Label("loop"),

		at(asm.Mov.Imm(asm.R1, 0), "done"),
		asm.Ja.Label("status"),
	)
	return p
}
