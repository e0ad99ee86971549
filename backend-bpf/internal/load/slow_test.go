package load

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// walks makes a program of which the verifier walks some instructions for each of n rounds.
func walks(n int32) *ebpf.CollectionSpec {
	return &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"walks": {Name: "walks",
		Type: ebpf.RawTracepoint, AttachTo: "sys_enter", License: "GPL", Instructions: asm.Instructions{
			asm.Mov.Imm(asm.R0, 0),
			asm.Add.Imm(asm.R0, 1).WithSymbol("loop"),
			asm.JLT.Imm(asm.R0, n, "loop"),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}}}}
}

// TestSlow: who waits for the verifier hears of it.
func TestSlow(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	told := make(chan []string, 8)
	o := Options{Patience: time.Millisecond, Slow: func(names []string) { told <- names }}
	if c, err := Load(walks(60000), o); err != nil {
		t.Fatal(err)
	} else {
		c.Close()
	}
	if len(told) != 1 || !slices.Equal(<-told, []string{"walks"}) {
		t.Errorf("told %d times", len(told))
	}
}

// TestSlowCPU: time counts while the verifier has a CPU, not while it waits for one.
func TestSlowCPU(t *testing.T) {
	tid := make(chan int32)
	on := make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tid <- int32(unix.Gettid())
		<-on // nothing is used
		own, _ := threadTime(int32(unix.Gettid()))
		for now := own; now < own+20*time.Millisecond; now, _ = threadTime(int32(unix.Gettid())) {
		}
		on <- true
		<-on
	}()
	j := &job{name: "j"}
	id := <-tid
	began, ok := threadTime(id)
	if !ok {
		t.Fatal("a thread has no CPU time")
	}
	j.began = began
	j.thread.Store(id)
	told := make(chan []string, 8)
	stop := watch([]*job{j}, Options{Patience: 10 * time.Millisecond, Slow: func(names []string) { told <- names }})
	defer stop()
	time.Sleep(50 * time.Millisecond)
	if len(told) > 0 {
		t.Error("told of a thread that waits")
	}
	on <- true
	if names := <-told; !slices.Equal(names, []string{"j"}) {
		t.Errorf("told of %q", names)
	}
	<-on
	close(on)
	if _, ok := threadTime(1 << 28); ok {
		t.Error("a thread that is not there has CPU time")
	}
}
