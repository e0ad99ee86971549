package oracle

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"
	"golang.org/x/arch/x86/x86asm"
)

// stopper lets gostap and Delve look at one and the same hit of a program that runs. gostap has its probes in the
// program. Delve stops a thread there by a debug register of the processor, which comes before the probe's breakpoint
// instruction, and has it do one instruction while all others stand still: that is gostap's hit. Which hit is meant a
// word tells that lies in the program's memory, behind its variables, and that the script reads.
type stopper struct {
	grp    *proc.TargetGroup
	target *proc.Target
	gate   uint64
	lines  chan string
	tracer *exec.Cmd
	stops  uint32
	armed  map[uint64]*proc.Breakpoint
	// code is the program's text, which begins at base.
	code io.ReadSeeker
	base uint64
}

// breakpoints is what Delve's processes have for breakpoints by themselves.
type breakpoints interface {
	WriteBreakpoint(*proc.Breakpoint) error
	EraseBreakpoint(*proc.Breakpoint) error
}

// gateOf gives the address of 8 bytes that a program has mapped and does not use: behind its zeroed variables.
func gateOf(path string) (uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Memsz > p.Filesz {
			if end := (p.Vaddr + p.Memsz + 15) &^ 7; end&4095 != 0 && end&4095 <= 4088 && f.Type == elf.ET_EXEC {
				return end, nil
			}
		}
	}
	return 0, errors.New("no room behind its variables")
}

// newStopper begins a session of gostap at points of a running program, and has Delve attached to it. show is what is
// printed of a hit. debug is where the program's debug information is, if not in it.
func newStopper(t *testing.T, bin string, pid int, points []string, show string, debug ...string) *stopper {
	t.Helper()
	gate, err := gateOf(bin)
	if err != nil {
		t.Skipf("%s: %v", bin, err)
	}
	path, err := gostap()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	text := f.Section(".text")
	s := &stopper{code: text.Open(), base: text.Addr, gate: gate, lines: make(chan string, 1000),
		armed: map[uint64]*proc.Breakpoint{}}
	script := fmt.Sprintf("probe %s { if ((user_uint64(%d) & 0xffffffff) == tid()) "+
		`printf("@E %%d %%x %%s\t%%s\n", user_uint64(%d) >> 32, uaddr(), ppfunc(), %s) } probe begin { println("@B") }`,
		probesAt(bin, points), gate, gate, show)
	file := write(t, t.TempDir(), "stopped.stp", script)
	s.tracer = exec.Command(path, "-w", "-s", "64", "-D", "MAXSTRINGLEN=2000", "-D", "STP_NO_OVERLOAD",
		"-D", "MAXERRORS=1000000", "--suppress-handler-errors", "-x", strconv.Itoa(pid), file)
	s.tracer.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := s.tracer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	s.tracer.Stderr = &errs
	if err := s.tracer.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		r := bufio.NewReaderSize(out, 1<<16)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				io.Copy(io.Discard, r)
				return
			}
			s.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() {
		s.tracer.Process.Signal(syscall.SIGINT)
		for range s.lines {
		}
		s.tracer.Wait()
		if t.Failed() {
			t.Logf("%.2000s", errs.String())
		}
	})
	if line, ok := s.line(10 * time.Minute); !ok || line != "@B" {
		t.Fatalf("the session has not begun: %q %s", line, errs.String())
	}
	s.grp, err = native.Attach(pid, nil, debug)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.grp.Detach(true) })
	s.target = s.grp.Selected
	return s
}

// probesAt is the list of probe points of a script.
func probesAt(bin string, points []string) string {
	var list []string
	for _, p := range points {
		list = append(list, fmt.Sprintf("process(%q).%s ?", bin, p))
	}
	return strings.Join(list, ", ")
}

func (s *stopper) line(most time.Duration) (string, bool) {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case line, ok := <-s.lines:
		return line, ok
	case <-late.C:
		return "", false
	}
}

func (s *stopper) setGate(word uint64) error {
	_, err := s.target.Memory().WriteMemory(s.gate, binary.LittleEndian.AppendUint64(nil, word))
	return err
}

// keyOf is what a breakpoint is entered under: not its address, one byte behind which Delve takes every thread that it
// stops to have met a breakpoint instruction, and sets it back.
func keyOf(bp *proc.Breakpoint) uint64 { return ^uint64(bp.HWBreakIndex) }

// arm has threads stop at up to four pcs.
func (s *stopper) arm(pcs []uint64) error {
	for i, pc := range pcs {
		bp := &proc.Breakpoint{Addr: pc, WatchType: 1 << 4, HWBreakIndex: uint8(i), Logical: &proc.LogicalBreakpoint{
			LogicalID: i + 1, HitCount: map[int64]uint64{}}}
		bp.Breaklets = []*proc.Breaklet{{Kind: proc.UserBreakpoint, LogicalID: i + 1}}
		s.grp.LogicalBreakpoints[i+1] = bp.Logical
		if err := s.target.Process.(breakpoints).WriteBreakpoint(bp); err != nil {
			return err
		}
		s.target.Breakpoints().M[keyOf(bp)] = bp
		s.armed[pc] = bp
	}
	return nil
}

// disarm takes one back.
func (s *stopper) disarm(pc uint64) error {
	bp := s.armed[pc]
	if bp == nil {
		return nil
	}
	delete(s.armed, pc)
	delete(s.target.Breakpoints().M, keyOf(bp))
	for _, th := range s.target.ThreadList() {
		if b := th.Breakpoint(); b.Breakpoint == bp {
			b.Clear()
		}
	}
	return s.target.Process.(breakpoints).EraseBreakpoint(bp)
}

// wait lets the program run until a thread comes to one of the armed places: nil if none has come in time.
func (s *stopper) wait(most time.Duration) (proc.Thread, uint64, error) {
	if len(s.armed) == 0 {
		return nil, 0, nil
	}
	late := time.AfterFunc(most, func() { s.grp.RequestManualStop() })
	defer late.Stop()
	if err := s.grp.Continue(); err != nil {
		return nil, 0, err
	}
	for _, th := range s.target.ThreadList() {
		b := th.Breakpoint()
		if b == nil || b.Breakpoint == nil || s.armed[b.Breakpoint.Addr] != b.Breakpoint {
			continue
		}
		if regs, err := th.Registers(); err == nil && regs.PC() == b.Breakpoint.Addr {
			return th, b.Breakpoint.Addr, nil
		}
	}
	return nil, 0, nil
}

// hit has the thread do the instruction that it stopped at, and gives what gostap printed of that.
func (s *stopper) hit(th proc.Thread, pc uint64) (e goEvent, ok bool, err error) {
	s.stops++
	if err := s.disarm(pc); err != nil {
		return e, false, err
	}
	if err := s.setGate(uint64(s.stops)<<32 | uint64(th.ThreadID())); err != nil {
		return e, false, err
	}
	if err := s.target.SwitchThread(th.ThreadID()); err != nil {
		return e, false, err
	}
	if err := s.grp.StepInstruction(false); err != nil {
		return e, false, err
	}
	if err := s.setGate(0); err != nil {
		return e, false, err
	}
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
		line, ok := s.line(time.Second)
		w := strings.SplitN(line, " ", 4)
		if !ok || len(w) < 4 || w[0] != "@E" {
			continue
		}
		if n, _ := strconv.ParseUint(w[1], 10, 64); n != uint64(s.stops) {
			continue
		}
		if at, _ := strconv.ParseUint(w[2], 16, 64); at != pc {
			continue
		}
		fn, vars, _ := strings.Cut(w[3], "\t") // there are spaces in the names of functions with type arguments
		return goEvent{fn, splitVars(vars)}, true, nil
	}
	return e, false, nil
}

// keep notes what the instruction at pc is about to write over. What it gives is called when the instruction is done,
// and lays that back, as long as Delve looks at the program's memory; then what that gives undoes it.
func (s *stopper) keep(th proc.Thread, pc uint64) (back func() (again func() error, err error)) {
	nothing := func() error { return nil }
	none := func() (func() error, error) { return nothing, nil }
	code := make([]byte, 15)
	if _, err := s.code.Seek(int64(pc-s.base), io.SeekStart); err != nil {
		return none
	}
	n, _ := io.ReadFull(s.code, code)
	in, err := x86asm.Decode(code[:n], 64)
	if err != nil {
		return none
	}
	m, ok := in.Args[0].(x86asm.Mem)
	regs, err2 := th.Registers()
	if !ok || err2 != nil || m.Segment != 0 {
		return none
	}
	list, err := regs.Slice(false)
	if err != nil {
		return none
	}
	value := func(r x86asm.Reg) uint64 {
		for _, have := range list {
			if r != 0 && strings.EqualFold(have.Name, r.String()) {
				return have.Reg.Uint64Val
			}
		}
		return 0
	}
	addr := uint64(m.Disp) + value(m.Base) + uint64(m.Scale)*value(m.Index)
	if m.Base == x86asm.RIP {
		addr += pc + uint64(in.Len)
	}
	mem := s.target.Memory()
	before, now := make([]byte, 32), make([]byte, 32)
	if n, err := mem.ReadMemory(before, addr); err != nil || n < len(before) {
		return none
	}
	return func() (func() error, error) {
		if n, err := mem.ReadMemory(now, addr); err != nil || n < len(now) {
			return nothing, nil
		}
		_, err := mem.WriteMemory(addr, before)
		return func() error {
			_, err := mem.WriteMemory(addr, now)
			return err
		}, err
	}
}
