package goroutines

import (
	"bytes"
	"encoding/binary"
	"io"

	"golang.org/x/sys/unix"
)

// mem is the memory of a process, by its number.
type mem int

// read fills b with what is at addr.
func (m mem) read(b []byte, addr uint64) error {
	if len(b) == 0 {
		return nil
	}
	from := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}
	n, err := unix.ProcessVMReadv(int(m), []unix.Iovec{iovec(b)}, from, 0)
	if err == nil && n < len(b) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func iovec(b []byte) unix.Iovec {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return v
}

// part is a piece of memory to be read.
type part struct {
	addr uint64
	to   []byte // not empty
	ok   bool   // it was
}

// mostParts is how many pieces the kernel takes at once (UIO_MAXIOV).
const mostParts = 1024

// readAll reads many pieces with few calls. What cannot be read is left out.
func (m mem) readAll(parts []part) {
	local, remote := make([]unix.Iovec, 0, mostParts), make([]unix.RemoteIovec, 0, mostParts)
	for len(parts) > 0 {
		now := parts[:min(len(parts), mostParts)]
		local, remote = local[:0], remote[:0]
		for _, p := range now {
			local = append(local, iovec(p.to))
			remote = append(remote, unix.RemoteIovec{Base: uintptr(p.addr), Len: len(p.to)})
		}
		n, err := unix.ProcessVMReadv(int(m), local, remote, 0)
		if err != nil {
			n = 0
		}
		k := 0
		for ; k < len(now) && n >= len(now[k].to); k++ {
			n -= len(now[k].to)
			now[k].ok = true
		}
		parts = parts[min(k+1, len(now)):] // without the one that it stopped at
		if err == unix.ESRCH || err == unix.EPERM {
			return
		}
	}
}

// stack is where a goroutine that does not run goes on.
type stack struct{ pc, sp, bp, hi uint64 }

// window is how much of a stack is read at first, in bytes.
const window = 1024

// windows are the tops of stacks that were read; of says whose.
type windows struct {
	parts []part
	of    []int
}

// unchanged reads the tops of stacks again, and notes whose are others now.
func (m mem) unchanged(gs []Goroutine, w windows) {
	again := make([]part, len(w.parts))
	buf := make([]byte, window*len(again))
	for k, p := range w.parts {
		again[k] = part{p.addr, buf[window*k:][:len(p.to)], false}
	}
	m.readAll(again)
	for k, p := range w.parts {
		if !again[k].ok || !bytes.Equal(p.to, again[k].to) {
			gs[w.of[k]].Moved = true
		}
	}
}

// walk follows the frame pointers of goroutines.
func (m mem) walk(gs []Goroutine, stacks []stack, depth int) windows {
	parts := make([]part, 0, len(stacks))
	of := make([]int, 0, len(stacks))
	buf := make([]byte, window*len(stacks))
	for i, s := range stacks {
		if s.pc != 0 && s.sp != 0 && s.sp < s.hi {
			parts = append(parts, part{s.sp, buf[window*i:][:min(window, s.hi-s.sp)], false})
			of = append(of, i)
		}
	}
	m.readAll(parts)
	frame := make([]byte, 16)
	for k, p := range parts {
		g, s := &gs[of[k]], stacks[of[k]]
		g.Stack = []uint64{s.pc}
		if !p.ok {
			g.Cut = true
			continue
		}
		for bp, last := s.bp, s.sp-1; bp != 0; {
			if bp <= last || bp > s.hi-16 || bp%8 != 0 || len(g.Stack) >= depth {
				g.Cut = true // no frame of this stack
				break
			}
			if off := bp - p.addr; off+16 <= uint64(len(p.to)) {
				copy(frame, p.to[off:])
			} else if m.read(frame, bp) != nil {
				g.Cut = true
				break
			}
			ret := binary.LittleEndian.Uint64(frame[8:])
			if ret == 0 {
				break
			}
			g.Stack = append(g.Stack, ret)
			last, bp = bp, binary.LittleEndian.Uint64(frame)
		}
	}
	return windows{parts, of}
}
