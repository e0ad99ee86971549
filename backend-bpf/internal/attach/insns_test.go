package attach

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// form is an instruction and its place in the file.
type form struct {
	code []byte
	off  uint64
}

// formRoom is the room of each form in the file; no instruction is longer.
const formRoom = 16

// forms are instructions of all opcodes of all maps, behind prefixes, with operands in registers and in memory.
func forms() (out [][]byte) {
	add := func(b ...byte) {
		for _, modrm := range []byte{0xc1, 0x01} { // rcx; memory at rcx
			out = append(out, append(append([]byte{}, b...), modrm, 1, 0, 0, 0, 0, 0, 0, 0))
		}
	}
	for op := range 256 {
		c := byte(op)
		for i, p := range []string{"", "\x66", "\xf2", "\xf3", "\x67", "\x64", "\x48", "\x41", "\x66\x48", "\xf3\x4c",
			"\xf0", "\x2e", "\x3e", "\x65\xf0"} {
			if i < 10 || op%8 == 1 {
				add(append([]byte(p), c)...)
				add(append([]byte(p), 0x0f, c)...)
			}
		}
		for _, p := range []string{"", "\x66", "\xf2\x48"} {
			add(append([]byte(p), 0x0f, 0x38, c)...)
			add(append([]byte(p), 0x0f, 0x3a, c)...)
		}
		for pp := range byte(4) {
			add(0xc5, 0xf8|pp, c) // VEX
			for m := range byte(4) {
				add(0xc4, 0xe0|m, 0x78|pp, c)
			}
			for m := range byte(7) {
				add(0x62, 0xf0|m, 0x7c|pp, 0x48, c) // EVEX
			}
		}
		for m := range byte(3) {
			add(0x8f, 0xe8+m, 0x78, c) // XOP
		}
	}
	return append(out, []byte{0xf3, 0x0f, 0x1e, 0xfa}, []byte{0xf3, 0x0f, 0x1e, 0xfb}) // endbr64, endbr32
}

// assembled gives the lengths of the instructions in a file of forms, by their places, as objdump sees them.
func assembled(t *testing.T, path string) map[uint64]int {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump is not installed")
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "-w", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	known := map[uint64]int{}
	for line := range strings.Lines(string(out)) {
		at, rest, _ := strings.Cut(line, ":\t")
		code, text, ok := strings.Cut(rest, "\t")
		off, err := strconv.ParseUint(strings.TrimSpace(at), 16, 64)
		if ok && err == nil && off%formRoom == 0 && !strings.Contains(text, "bad") && !strings.HasPrefix(text, "data") {
			known[off] = len(strings.Fields(code))
		}
	}
	return known
}

// TestInstructions: the kernel takes probes on the instructions of which it is said that it does, and on no others.
// Nothing is run: the kernel looks at an instruction when it puts a breakpoint into a process that has it mapped.
func TestInstructions(t *testing.T) {
	needMulti(t)
	needRoot(t)
	var text []byte
	var taken, refused []form
	unknown := 0
	for _, code := range forms() {
		in, err := insn.Decode(machine.AMD64.Code, code)
		if err != nil {
			unknown++ // functions with it are refused
			continue
		}
		f := form{code[:in.Len], uint64(len(text))}
		text = append(append(text, f.code...), bytes.Repeat([]byte{0x90}, formRoom-in.Len)...)
		if in.Class() == debuginfo.InsnRefused {
			refused = append(refused, f)
		} else {
			taken = append(taken, f)
		}
	}
	path := filepath.Join(t.TempDir(), "forms")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	known := assembled(t, path)
	isNone := func(f form) bool {
		// vrsqrt14ps and vdbpsadbw without the prefix that they need: objdump does not look at it.
		bare := f.code[0] == 0x62 && f.code[2]&3 != 1 && (f.code[1]&7 == 2 && f.code[4] == 0x4e || f.code[1]&7 == 3 &&
			f.code[4] == 0x42)
		return bare || known[f.off] != len(f.code)
	}
	all := len(taken) + len(refused)
	taken, refused = slices.DeleteFunc(taken, isNone), slices.DeleteFunc(refused, isNone)
	t.Logf("%d forms are to be taken, %d refused; %d do not decode, %d are no instructions",
		len(taken), len(refused), unknown, all-len(taken)-len(refused))
	if len(taken) < 5000 || len(refused) < 500 {
		t.Error("those are too few")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, len(text), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Munmap(m)
	u := &Uprobes{Prog: newCounter(t, true).prog(), File: open(t, path), PID: os.Getpid(), Multi: true}
	link := func(some []form) error {
		sites := make([]Site, len(some))
		for i, f := range some {
			sites[i].Offset = f.off
		}
		fd, err := linkMulti(u, sites)
		if err == nil {
			go kern.Close(fd)
		}
		return err
	}
	// no names those that the kernel refuses.
	var no func(some []form, why error)
	left := 40
	no = func(some []form, why error) {
		if len(some) == 1 {
			t.Errorf("% x: the kernel refuses it: %v", some[0].code, why)
			left--
			return
		}
		for _, half := range [][]form{some[:len(some)/2], some[len(some)/2:]} {
			if err := link(half); err != nil && left > 0 {
				no(half, err)
			}
		}
	}
	const group, sample = 2000, 200 // each that is refused takes the kernel some time
	for i := 0; i < len(taken); i += group {
		some := taken[i:min(i+group, len(taken))]
		if err := link(some); err != nil {
			no(some, err)
		}
	}
	reasons := map[string]int{}
	for i := 0; i < len(refused); i += 1 + len(refused)/sample {
		f := refused[i]
		err := link([]form{f})
		switch {
		case err == nil && f.code[0] == 0x8f:
			reasons["taken from Linux 6.17 on"]++
		case err == nil:
			if left--; left > 0 {
				t.Errorf("% x: the kernel takes it", f.code)
			}
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOEXEC), errors.Is(err, unix.Errno(524)):
			reasons[fmt.Sprint(err)]++
		default:
			t.Fatalf("% x: %v", f.code, err)
		}
	}
	t.Log(reasons)
}
