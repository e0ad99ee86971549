package godwarf

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// tracee is a program under ptrace with breakpoints; places are evaluated against its real
// registers and memory.
type tracee struct {
	t      testing.TB
	im     *Image
	bias   uint64
	mem    *os.File
	hooks  map[uint64]func(*thread) // by file address
	saved  map[uint64]byte
	stdout strings.Builder
}

// thread is a stopped thread of it.
type thread struct {
	*tracee
	tid  int
	regs syscall.PtraceRegs
	lost bool // a check of a location has failed
}

// run starts the program and calls hooks at their addresses, until it ends.
func run(t testing.TB, im *Image, hooks map[uint64]func(*thread)) {
	t.Helper()
	runtime.LockOSThread() // all ptrace calls come from the thread that started the program
	defer runtime.UnlockOSThread()
	tr := &tracee{t: t, im: im, hooks: hooks, saved: map[uint64]byte{}}
	cmd := exec.Command(im.Path())
	cmd.Stdout = &tr.stdout
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("no ptrace here: %v", err)
	}
	pid := cmd.Process.Pid
	ended := false
	defer func() {
		if !ended {
			// Traced threads must all be waited for, or the first one never ends.
			syscall.Kill(pid, syscall.SIGKILL)
			for {
				var ws syscall.WaitStatus
				if tid, err := syscall.Wait4(-1, &ws, syscall.WALL, nil); err != nil && err != syscall.EINTR ||
					tid == pid && (ws.Exited() || ws.Signaled()) {
					break
				}
			}
		}
		cmd.Wait()
	}()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	const exitKill = 0x100000 // PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|exitKill); err != nil {
		t.Fatal(err)
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	tr.mem = mem
	tr.bias = mappedAt(t, pid, im.Path()) - im.LoadBase()
	for pc := range hooks {
		var b [1]byte
		tr.read(pc+tr.bias, b[:])
		tr.saved[pc] = b[0]
		tr.poke(pc, 0xcc)
	}
	syscall.PtraceCont(pid, 0)
	for {
		tid, err := syscall.Wait4(-1, &ws, syscall.WALL, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case (ws.Exited() || ws.Signaled()) && tid == pid:
			ended = true
			if ws.ExitStatus() != 0 {
				t.Fatalf("program ended with %v", ws)
			}
			return
		case !ws.Stopped():
		case ws.StopSignal() == syscall.SIGTRAP && ws.TrapCause() > 0, ws.StopSignal() == syscall.SIGSTOP:
			syscall.PtraceCont(tid, 0) // a new thread
		case ws.StopSignal() == syscall.SIGTRAP:
			th := &thread{tracee: tr, tid: tid}
			th.hit()
			syscall.PtraceCont(tid, 0)
		default:
			syscall.PtraceCont(tid, int(ws.StopSignal()))
		}
	}
}

// hit handles the breakpoint that th stopped at, and brings it over the instruction.
func (th *thread) hit() {
	if err := syscall.PtraceGetRegs(th.tid, &th.regs); err != nil {
		th.t.Fatal(err)
	}
	pc := *regAt(&th.regs, machine.Host.IP) - 1 - th.bias
	fn := th.hooks[pc]
	if fn == nil {
		th.t.Fatalf("trap at %#x without a hook", pc)
	}
	*regAt(&th.regs, machine.Host.IP)--
	fn(th)
	// Common instructions are done here, so that no other thread slips through.
	switch b := th.saved[pc]; b {
	case 0x55: // PUSHQ BP
		*regAt(&th.regs, machine.Host.SP) -= 8
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], *regAt(&th.regs, machine.Host.FP))
		if _, err := th.mem.WriteAt(w[:], int64(*regAt(&th.regs, machine.Host.SP))); err != nil {
			th.t.Fatal(err)
		}
		*regAt(&th.regs, machine.Host.IP)++
	case 0xc3: // RET
		*regAt(&th.regs, machine.Host.IP) = th.word(*regAt(&th.regs, machine.Host.SP), 8)
		*regAt(&th.regs, machine.Host.SP) += 8
	case 0x90:
		*regAt(&th.regs, machine.Host.IP)++
	default:
		th.poke(pc, b)
		if err := syscall.PtraceSetRegs(th.tid, &th.regs); err != nil {
			th.t.Fatal(err)
		}
		var ws syscall.WaitStatus
		if err := syscall.PtraceSingleStep(th.tid); err != nil {
			th.t.Fatal(err)
		}
		if _, err := syscall.Wait4(th.tid, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() ||
			ws.StopSignal() != syscall.SIGTRAP {
			th.t.Fatal("single step: ", err, ws)
		}
		th.poke(pc, 0xcc)
		return
	}
	if err := syscall.PtraceSetRegs(th.tid, &th.regs); err != nil {
		th.t.Fatal(err)
	}
}

// mappedAt is the lowest address at which the file is mapped.
func mappedAt(t testing.TB, pid int, path string) uint64 {
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

func (tr *tracee) read(addr uint64, b []byte) {
	if _, err := tr.mem.ReadAt(b, int64(addr)); err != nil {
		tr.t.Fatalf("read %d bytes at %#x: %v", len(b), addr, err)
	}
}

func (tr *tracee) poke(pc uint64, b byte) {
	if _, err := tr.mem.WriteAt([]byte{b}, int64(pc+tr.bias)); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tracee) word(addr uint64, size int) uint64 {
	var w [8]byte
	tr.read(addr, w[:size])
	return binary.LittleEndian.Uint64(w[:])
}

// regAt is the register of r with a DWARF number: what ptrace gives of a process begins as struct pt_regs does.
func regAt(r *syscall.PtraceRegs, n int) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(r), machine.Host.Offset(n)))
}

// eval runs a location program.
func (th *thread) eval(p loc.Prog) uint64 {
	v := make([]uint64, len(p.Steps))
	for i, s := range p.Steps {
		switch s.Op {
		case loc.Reg:
			v[i] = *regAt(&th.regs, int(s.N))
		case loc.Const:
			v[i] = uint64(s.N)
		case loc.TLS:
			v[i] = *(*uint64)(unsafe.Add(unsafe.Pointer(&th.regs), 168)) // fs_base of struct user_regs_struct
		case loc.Image:
			v[i] = th.bias
		case loc.Add:
			v[i] = v[s.A] + v[s.B]
		case loc.Xor:
			v[i] = v[s.A] ^ v[s.B]
		case loc.Or:
			v[i] = v[s.A] | v[s.B]
		case loc.Check:
			v[i] = v[s.A]
			th.lost = th.lost || v[s.B] == 0
		case loc.Deref:
			v[i] = th.word(v[s.A], s.Size)
		default:
			th.t.Fatalf("step %v", s.Op)
		}
	}
	return v[len(v)-1]
}

// bytes is the object at a place.
func (th *thread) bytes(p loc.Place) []byte {
	b := make([]byte, p.Type.Size)
	if p.InMemory {
		th.read(th.eval(p.Addr), b)
		return b
	}
	for _, x := range p.Pieces {
		src := make([]byte, 16)
		switch {
		case x.Lost:
			th.t.Errorf("bytes %d to %d are lost", x.Off, x.Off+x.Size)
		case x.Vector > 0:
			var fp [512]byte // struct user_fpregs_struct; xmm0 at 160
			const getFPRegs = 14
			if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, getFPRegs, uintptr(th.tid), 0,
				uintptr(unsafe.Pointer(&fp)), 0, 0); e != 0 {
				th.t.Fatal(e)
			}
			copy(src, fp[160+16*(x.Vector-1):])
		default:
			binary.LittleEndian.PutUint64(src, th.eval(x.Val))
		}
		copy(b[x.Off:x.Off+x.Size], src)
	}
	return b
}

// show writes a variable's value in a form close to Go's.
func (th *thread) show(v *debuginfo.Var) string {
	if v.Err != nil {
		return "<" + v.Err.Error() + ">"
	}
	return th.value(th.bytes(v.Place), v.Type, 0)
}

func (th *thread) value(b []byte, t *types.Ctype, depth int) string {
	u := func(off, n int64) uint64 {
		var w [8]byte
		copy(w[:], b[off:off+n])
		return binary.LittleEndian.Uint64(w[:])
	}
	if depth > 4 {
		return "..."
	}
	object := func(addr uint64, t *types.Ctype) string {
		b := make([]byte, t.Size)
		th.read(addr, b)
		return th.value(b, t, depth+1)
	}
	switch t.Kind {
	case types.Int, types.Char:
		n := u(0, t.Size)
		if t.Signed {
			sh := 64 - 8*t.Size
			return fmt.Sprint(int64(n<<sh) >> sh)
		}
		return fmt.Sprint(n)
	case types.Bool:
		return fmt.Sprint(u(0, 1) != 0)
	case types.Float:
		if t.Size == 4 {
			return fmt.Sprint(math.Float32frombits(uint32(u(0, 4))))
		}
		return fmt.Sprint(math.Float64frombits(u(0, 8)))
	case types.Complex:
		return fmt.Sprint(complex(math.Float64frombits(u(0, 8)), math.Float64frombits(u(8, 8))))
	case types.GoString:
		s := make([]byte, min(u(8, 8), 1000))
		if len(s) > 0 {
			th.read(u(0, 8), s)
		}
		return fmt.Sprintf("%q", s)
	case types.GoSlice:
		var el []string
		for i := range min(u(8, 8), 10) {
			el = append(el, object(u(0, 8)+i*uint64(t.Elem().Size), t.Elem()))
		}
		return fmt.Sprintf("[%s]", strings.Join(el, " "))
	case types.Array:
		var el []string
		for i := range t.Count {
			el = append(el, th.value(b[i*t.Elem().Size:][:t.Elem().Size], t.Elem(), depth+1))
		}
		return fmt.Sprintf("[%s]", strings.Join(el, " "))
	case types.Struct:
		var el []string
		for _, f := range t.Fields() {
			el = append(el, th.value(b[f.Off:][:f.Type.Size], f.Type, depth+1))
		}
		return fmt.Sprintf("{%s}", strings.Join(el, " "))
	case types.Pointer:
		if u(0, 8) == 0 {
			return "nil"
		}
		return "&" + object(u(0, 8), t.Elem())
	default:
		if u(0, 8) == 0 {
			return "nil"
		}
		return t.Name
	}
}
