package attach

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
)

// The first uprobe on a quiet system waits 6 to 14 ms in the kernel: registering one takes a lock that is free for
// readers (every fork), and the writer has to wait until all CPUs know. Until some 12 ms after that,
// further registrations do not wait (rcu_sync of percpu_rw_semaphore). So while a script is being
// compiled a thread of its own registers uprobes in a file that nobody runs, again and again until the
// real ones are due. The waiting and the compiling overlap.
type warmer struct {
	mu    sync.Mutex
	stop  chan struct{}
	done  chan struct{}
	links []link
}

var warm warmer

const (
	warmEvery = 9 * time.Millisecond
	warmTimes = 12 // about 0.1 s; a script that takes longer to compile waits again
)

// Warm begins in the background; cool ends it and takes away what it left. A Set that attaches uprobes does so too;
// then cool does nothing. Without rights, or where the kernel has no uprobe_multi links, nothing happens.
func Warm() (cool func()) {
	warm.mu.Lock()
	defer warm.mu.Unlock()
	if warm.stop == nil {
		warm.stop, warm.done = make(chan struct{}), make(chan struct{})
		go warm.run(warm.stop, warm.done)
	}
	return func() { closeAll(warm.take()) }
}

func (w *warmer) run(stop, done chan struct{}) {
	defer close(done)
	prog, _, err := kern.ProgLoad(&kern.Prog{Name: "gostap_warm", Type: kern.ProgKprobe,
		AttachType: kern.AttachUprobeMulti, License: "GPL",
		Insns: []byte{0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0}}) // r0 = 0; exit
	if err != nil {
		return
	}
	defer kern.Close(prog)
	mem, err := unix.MemfdCreate("gostap", unix.MFD_CLOEXEC)
	if err != nil {
		return
	}
	defer kern.Close(mem)
	if unix.Ftruncate(mem, 4096) != nil {
		return
	}
	u := &Uprobes{Prog: prog, File: &File{fd: mem}}
	for range warmTimes {
		fd, err := linkMulti(u, []Site{{}})
		if err != nil {
			return
		}
		w.mu.Lock()
		w.links = append(w.links, link{fd})
		w.mu.Unlock()
		select {
		case <-stop:
			return
		case <-time.After(warmEvery):
		}
	}
}

// take ends the warming and gives what is to be closed.
func (w *warmer) take() []link {
	w.mu.Lock()
	stop, done := w.stop, w.done
	w.stop = nil
	w.mu.Unlock()
	if stop == nil {
		return nil
	}
	close(stop)
	<-done
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.links
	w.links = nil
	return l
}
