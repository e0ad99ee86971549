package cdwarf

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
)

// The tests run programs under ptrace, stop at sites and evaluate places against the real
// registers and memory.

// state is a stopped program.
type state struct {
	t    *testing.T
	pid  int
	bias uint64
	regs syscall.PtraceRegs
	xmm  [16][16]byte
	mem  *os.File
	run  *session
}

type session struct {
	probes map[uint64][]func(*state) // by run-time address
	saved  map[uint64]byte
	once   map[uint64]bool
}

// live runs the program and calls the probes' functions at their file addresses.
func live(t *testing.T, f *elffile.File, probes map[uint64]func(*state)) {
	t.Helper()
	runtime.LockOSThread() // all ptrace calls come from the thread that started the program
	defer runtime.UnlockOSThread()
	cmd := exec.Command(f.Path())
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("ptrace: %v", err)
	}
	pid := cmd.Process.Pid
	done := false
	defer func() {
		if !done {
			cmd.Process.Kill()
		}
		cmd.Wait()
	}()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	s := &session{probes: map[uint64][]func(*state){}, saved: map[uint64]byte{}, once: map[uint64]bool{}}
	st := &state{t: t, pid: pid, mem: mem, run: s}
	st.bias = mapped(t, pid, f.Path()) - f.LoadBase()
	for pc, fn := range probes {
		st.probe(pc+st.bias, fn)
	}
	for {
		if err := syscall.PtraceCont(pid, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
			t.Fatal(err)
		}
		if ws.Exited() || ws.Signaled() {
			done = true
			if ws.ExitStatus() != 0 {
				t.Fatalf("program ended with %v", ws)
			}
			return
		}
		if ws.StopSignal() != syscall.SIGTRAP {
			t.Fatalf("program stopped with %v", ws.StopSignal())
		}
		st.load()
		at := *regAt(&st.regs, machine.Host.IP) - 1
		fns := s.probes[at]
		if fns == nil {
			t.Fatalf("trap at %#x without a probe", at)
		}
		*regAt(&st.regs, machine.Host.IP) = at
		if s.once[at] {
			delete(s.probes, at)
		}
		for _, fn := range fns {
			fn(st)
		}
		// Step over the original instruction.
		st.poke(at, s.saved[at])
		if err := syscall.PtraceSetRegs(pid, &st.regs); err != nil {
			t.Fatal(err)
		}
		if s.probes[at] == nil {
			delete(s.saved, at)
			continue
		}
		if err := syscall.PtraceSingleStep(pid); err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || !ws.Stopped() {
			t.Fatal(err, ws)
		}
		st.poke(at, 0xcc)
	}
}

// mapped is the lowest address at which the file is mapped.
func mapped(t *testing.T, pid int, path string) uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if strings.HasSuffix(line, path) {
			var lo uint64
			fmt.Sscanf(line, "%x-", &lo)
			return lo
		}
	}
	t.Fatal("the program is not mapped")
	return 0
}

func (st *state) load() {
	if err := syscall.PtraceGetRegs(st.pid, &st.regs); err != nil {
		st.t.Fatal(err)
	}
	var fp [512]byte // struct user_fpregs_struct; xmm0 at 160
	const getFPRegs = 14
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, getFPRegs, uintptr(st.pid), 0, uintptr(unsafe.Pointer(&fp)),
		0, 0); e != 0 {
		st.t.Fatal(e)
	}
	for i := range st.xmm {
		copy(st.xmm[i][:], fp[160+16*i:])
	}
}

func (st *state) poke(addr uint64, b byte) {
	if _, err := st.mem.WriteAt([]byte{b}, int64(addr)); err != nil {
		st.t.Fatal(err)
	}
}

func (st *state) probe(addr uint64, fn func(*state)) {
	if _, ok := st.run.saved[addr]; !ok {
		st.run.saved[addr] = st.read(addr, 1)[0]
		st.poke(addr, 0xcc)
	}
	st.run.probes[addr] = append(st.run.probes[addr], fn)
}

// onReturn calls fn when the current call, at whose first instruction the program is, returns.
func (st *state) onReturn(fn func(*state)) {
	ret := binary.LittleEndian.Uint64(st.read(*regAt(&st.regs, machine.Host.SP), 8))
	cfa := *regAt(&st.regs, machine.Host.SP) + 8
	st.probe(ret, func(s *state) {
		if *regAt(&s.regs, machine.Host.SP) == cfa {
			cfa = 0
			fn(s)
		}
	})
}

func (st *state) read(addr uint64, n int) []byte {
	b := make([]byte, n)
	if _, err := st.mem.ReadAt(b, int64(addr)); err != nil {
		st.t.Fatalf("read %d at %#x: %v", n, addr, err)
	}
	return b
}

// reg is a register by its DWARF number.
func (st *state) reg(n int64) uint64 {
	return *regAt(&st.regs, int(n))
}

// regAt is the register of r with a DWARF number: what ptrace gives of a process begins as struct pt_regs does.
func regAt(r *syscall.PtraceRegs, n int) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(r), machine.Host.Offset(n)))
}

func (st *state) eval(p loc.Prog) uint64 {
	v := make([]uint64, len(p.Steps))
	for i, s := range p.Steps {
		a, b := uint64(0), uint64(0)
		if s.A < i {
			a = v[s.A]
		}
		if s.B < i {
			b = v[s.B]
		}
		switch s.Op {
		case loc.Reg:
			v[i] = st.reg(s.N)
		case loc.Const:
			v[i] = uint64(s.N)
		case loc.TLS:
			v[i] = *(*uint64)(unsafe.Add(unsafe.Pointer(&st.regs), 168)) // fs_base of struct user_regs_struct
		case loc.Image:
			v[i] = st.bias
		case loc.Add:
			v[i] = a + b
		case loc.Sub:
			v[i] = a - b
		case loc.Mul:
			v[i] = a * b
		case loc.And:
			v[i] = a & b
		case loc.Or:
			v[i] = a | b
		case loc.Xor:
			v[i] = a ^ b
		case loc.Shl:
			v[i] = a << b
		case loc.Shr:
			v[i] = a >> b
		case loc.Sar:
			v[i] = uint64(int64(a) >> b)
		case loc.Neg:
			v[i] = -a
		case loc.Not:
			v[i] = ^a
		case loc.Bits:
			v[i] = cut(a>>uint(s.N), s.Size, s.Signed)
		case loc.Deref:
			var w [8]byte
			copy(w[:], st.read(a, s.Size))
			v[i] = cut(binary.LittleEndian.Uint64(w[:]), 8*s.Size, s.Signed)
		default:
			st.t.Fatalf("step %v", s.Op)
		}
	}
	return v[len(v)-1]
}

func cut(v uint64, bits int, signed bool) uint64 {
	sh := uint(64 - bits)
	if signed {
		return uint64(int64(v<<sh) >> sh)
	}
	return v << sh >> sh
}

// bytes is the object at a place; lost parts are an error.
func (st *state) bytes(p loc.Place) ([]byte, error) {
	b := make([]byte, p.Type.Size)
	if p.InMemory {
		return st.read(st.eval(p.Addr), len(b)), nil
	}
	have := int64(0)
	for _, x := range p.Pieces {
		if x.Lost {
			return nil, fmt.Errorf("bytes %d to %d are lost", x.Off, x.Off+x.Size)
		}
		src := make([]byte, 16)
		if x.Vector > 0 {
			copy(src, st.xmm[x.Vector-1][:])
		} else {
			binary.LittleEndian.PutUint64(src, st.eval(x.Val))
		}
		copy(b[x.Off:x.Off+x.Size], src)
		have += x.Size
	}
	if have < 0 {
		return nil, fmt.Errorf("no pieces")
	}
	return b, nil
}
