package peek

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/load"
)

func reader(t testing.TB) *Reader {
	if os.Geteuid() != 0 {
		t.Skip("loading programs takes root")
	}
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// symbol gives the address of something in the kernel, from /proc/kallsyms.
func symbol(t testing.TB, name string) uint64 {
	b, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[2] == name {
			n, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil || n == 0 {
				t.Skipf("the address of %s is hidden: %v", name, err)
			}
			return n
		}
	}
	t.Skipf("the kernel has no symbol %s", name)
	return 0
}

func TestReadKernel(t *testing.T) {
	r := reader(t)
	addr := symbol(t, "_text")
	// More than one window, at no round place, is the same as its bytes one by one.
	all, one := make([]byte, 3*window+17), make([]byte, 1)
	if err := r.ReadKernel(all, addr+3); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(all); i += 7 {
		if err := r.ReadKernel(one, addr+3+uint64(i)); err != nil || one[0] != all[i] {
			t.Fatalf("byte %d is %#x (%v), in the piece it is %#x", i, one[0], err, all[i])
		}
	}
	if bytes.Count(all, []byte{all[0]}) == len(all) {
		t.Error("the kernel's text is all the same byte")
	}
}

func TestReadFaults(t *testing.T) {
	r := reader(t)
	user := make([]byte, 64)
	for name, addr := range map[string]uint64{"zero": 0, "one": 1, "top": ^uint64(0), "not canonical": 1 << 60,
		"user": uint64(uintptr(unsafe.Pointer(&user[0])))} {
		if err := r.ReadKernel(user[:8], addr); !errors.Is(err, unix.EFAULT) && !errors.Is(err, unix.ERANGE) {
			t.Errorf("%s: %v, want EFAULT or ERANGE", name, err)
		}
	}
	if err := r.ReadKernel(nil, 0); err != nil {
		t.Errorf("no bytes: %v", err)
	}
}

// Ticks go on with the clock that is moved on by them: between two looks at the one there are as many as the other
// says, and one or two more for what happens between the looks.
func TestJiffies(t *testing.T) {
	r := reader(t)
	var res unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &res); err != nil {
		t.Fatal(err)
	}
	now := func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		return ts.Nano() / res.Nano()
	}
	ticks := func() int64 {
		n, err := r.Jiffies()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	early, first := now(), ticks()
	begin := now()
	time.Sleep(50 * time.Millisecond)
	end, last := now(), ticks()
	if n := last - first; n < end-begin-2 || n > now()-early+2 {
		t.Errorf("%d ticks in %d to %d", n, end-begin, now()-early)
	}
}

// The task is that of the calling thread: its structure holds the thread's number and name.
func TestCurrentTask(t *testing.T) {
	r := reader(t)
	off, _, err := load.KernelMember("task_struct", "pid")
	if err != nil {
		t.Skip(err)
	}
	comm, _, err := load.KernelMember("task_struct", "comm")
	if err != nil {
		t.Skip(err)
	}
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for range 3 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and ends with the goroutine
			task, err := r.CurrentTask()
			if err != nil {
				t.Error(err)
				return
			}
			seen[task] = true
			text := make([]byte, 16)
			if err := r.ReadKernel(text, task+uint64(comm)); err != nil ||
				!bytes.HasPrefix(text, bytes.TrimSpace(name)) {
				t.Errorf("the task's name is %q (%v), not %q", text, err, name)
			}
			var pid [4]byte
			if err := r.ReadKernel(pid[:], task+uint64(off)); err != nil {
				t.Error(err)
				return
			}
			if got, want := int(pid[0])|int(pid[1])<<8|int(pid[2])<<16|int(pid[3])<<24, unix.Gettid(); got != want &&
				!otherNamespace() {
				t.Errorf("the task's pid is %d, that of the thread %d", got, want)
			}
		}()
		<-done
	}
	if seen[0] {
		t.Error("a task at address 0")
	}
}

// otherNamespace reports whether processes have other numbers here than the kernel's own.
func otherNamespace() bool {
	s, err := os.Readlink("/proc/self/ns/pid")
	return err != nil || s != "pid:[4026531836]"
}

func BenchmarkRead8(b *testing.B) {
	r := reader(b)
	addr := symbol(b, "_text")
	var buf [8]byte
	for b.Loop() {
		if err := r.ReadKernel(buf[:], addr); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead512(b *testing.B) {
	r := reader(b)
	addr := symbol(b, "_text")
	var buf [512]byte
	for b.Loop() {
		if err := r.ReadKernel(buf[:], addr); err != nil {
			b.Fatal(err)
		}
	}
}
