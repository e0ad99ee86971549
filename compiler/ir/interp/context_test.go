package interp

import (
	"os"
	"runtime"
	"testing"
)

// TestHostThread: tid() is the same whichever thread of the tracer a handler goes on in.
func TestHostThread(t *testing.T) {
	runtime.LockOSThread() // the goroutine below is on another one
	defer runtime.UnlockOSThread()
	got := make(chan int64, 2)
	ask := func() {
		v, err := hostIntrinsics["tid"](&HostContext{}, nil)
		if err != nil {
			t.Error(err)
		}
		got <- v.Int
	}
	ask()
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ask()
	}()
	if a, b := <-got, <-got; a != b || a != int64(os.Getpid()) {
		t.Errorf("tid() is %d and %d, the tracer is %d", a, b, os.Getpid())
	}
}
