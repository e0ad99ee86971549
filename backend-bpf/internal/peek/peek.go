// Package peek reads kernel memory for handlers that run on the host.
//
// In: addresses. Out: the bytes there, or an error where nothing is mapped. A program of a few instructions does
// it; the kernel runs it on request (BPF_PROG_TEST_RUN, for raw tracepoints since 5.10), in the thread that asks,
// so that the current task is the tracer's.
package peek

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
)

// window is the most bytes that one run reads.
const window = 1024

// The program's argument words.
const (
	argAddr = 8 * iota
	argSize // 0 asks for something else, which argAddr names
	argEnd
)

// What argAddr asks for where argSize is 0.
const (
	askTask = iota
	askJiffies
)

// Reader reads kernel memory. It is for one goroutine.
type Reader struct {
	col *load.Collection
	fd  int
	out []byte // where the program puts what it has read
	arg [argEnd]byte
}

// New loads the program.
func New() (*Reader, error) {
	col, err := load.Load(&ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{"gostap_peek": {Name: "gostap_peek", Type: ebpf.Array, KeySize: 4,
			ValueSize: window, MaxEntries: 1, Flags: kern.FlagMmapable}},
		Programs: map[string]*ebpf.ProgramSpec{"gostap_peek": {Type: ebpf.RawTracepoint, Instructions: program(),
			License: "GPL"}},
	}, load.Options{})
	if err != nil {
		return nil, fmt.Errorf("load the program that reads kernel memory for handlers on the host: %w", err)
	}
	r := &Reader{col: col, fd: col.Progs["gostap_peek"].FD()}
	if r.out, err = unix.Mmap(col.Maps["gostap_peek"].FD(), 0, window, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		col.Close()
		return nil, fmt.Errorf("map what is read of the kernel: %w", err)
	}
	return r, nil
}

// program reads argSize bytes at argAddr into the map and gives what bpf_probe_read_kernel gives; or puts there
// what else is asked for.
func program() asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R3, asm.R1, argAddr, asm.DWord),
		asm.LoadMem(asm.R2, asm.R1, argSize, asm.DWord),
		asm.LoadMapValue(asm.R6, 0, 0).WithReference("gostap_peek"),
		asm.JEq.Imm(asm.R2, 0, "ask"),
		asm.JGT.Imm(asm.R2, window, "bad"),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.FnProbeReadKernel.Call(),
		asm.Return(),
		asm.JEq.Imm(asm.R3, askJiffies, "jiffies").WithSymbol("ask"),
		asm.FnGetCurrentTask.Call(),
		asm.Ja.Label("answer"),
		asm.FnJiffies64.Call().WithSymbol("jiffies"),
		asm.StoreMem(asm.R6, 0, asm.R0, asm.DWord).WithSymbol("answer"),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
		asm.Mov.Imm(asm.R0, -int32(unix.EINVAL)).WithSymbol("bad"),
		asm.Return(),
	}
}

func (r *Reader) run(addr uint64, size int) error {
	binary.NativeEndian.PutUint64(r.arg[argAddr:], addr)
	binary.NativeEndian.PutUint64(r.arg[argSize:], uint64(size))
	got, err := kern.RunTracepoint(r.fd, r.arg[:])
	if err == nil && got != 0 {
		err = unix.Errno(-got)
	}
	return err
}

// ReadKernel fills buf from address addr of the kernel.
func (r *Reader) ReadKernel(buf []byte, addr uint64) error {
	for len(buf) > 0 {
		n := min(len(buf), window)
		if err := r.run(addr, n); err != nil {
			return err
		}
		copy(buf, r.out[:n])
		buf, addr = buf[n:], addr+uint64(n)
	}
	return nil
}

// CurrentTask gives the address of the calling thread's task_struct.
func (r *Reader) CurrentTask() (uint64, error) {
	if err := r.run(askTask, 0); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint64(r.out), nil
}

// Jiffies gives the number of ticks of the kernel's timer.
func (r *Reader) Jiffies() (int64, error) {
	if err := r.run(askJiffies, 0); err != nil {
		return 0, err
	}
	return int64(binary.NativeEndian.Uint64(r.out)), nil
}

// Close unloads the program.
func (r *Reader) Close() {
	unix.Munmap(r.out)
	r.col.Close()
}
