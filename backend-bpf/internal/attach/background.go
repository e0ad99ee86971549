package attach

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
)

// closeInBackground closes descriptors, in their order, without waiting for the kernel, and then writes lines to the
// file to, each with one call. A child process that has nothing but copies of them waits until this process has closed
// its own, and then closes the last ones: closing in threads would hold up the end of this process. to is closed here.
// It gives the number of the child, 0 if there is none.
func closeInBackground(fds []int, to int, lines [][]byte) (child int, err error) {
	if len(fds) == 0 {
		return 0, nil
	}
	child, err = hold(fds, to, lines)
	if err != nil {
		// Then it takes as long as it takes.
		for _, fd := range fds {
			kern.Close(fd)
		}
		for _, l := range lines {
			unix.Write(to, l)
		}
	}
	if to >= 0 {
		kern.Close(to)
	}
	return child, err
}

// await returns when a child of closeInBackground has ended.
func await(child int) {
	for {
		if _, err := unix.Wait4(child, nil, unix.WALL, nil); err != unix.EINTR {
			return
		}
	}
}

// gap is a range of descriptors that the child closes first.
type gap struct{ lo, hi uintptr }

// gaps gives all descriptors but those of keep.
func gaps(keep []int) []gap {
	keep = slices.Clone(keep)
	slices.Sort(keep)
	var out []gap
	lo := 0
	for _, fd := range keep {
		if fd > lo {
			out = append(out, gap{uintptr(lo), uintptr(fd - 1)})
		}
		lo = fd + 1
	}
	return append(out, gap{uintptr(lo), math.MaxUint32})
}

// hold makes a child that closes fds after this process has, and closes them here. The child sends no
// signal when it has ended and waits for any child do not see it (it has no exit signal).
//
//go:norace
func hold(fds []int, to int, lines [][]byte) (child int, err error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	defer kern.Close(pipe[0])
	keep := append(slices.Clone(fds), pipe[0])
	if to >= 0 {
		keep = append(keep, to)
	}
	close := gaps(keep)
	type text struct {
		p unsafe.Pointer
		n uintptr
	}
	texts := make([]text, len(lines), len(lines)+1)
	for i, l := range lines {
		texts[i] = text{unsafe.Pointer(&l[0]), uintptr(len(l))}
	}
	text0, ntexts := unsafe.Pointer(&texts[:1][0]), len(texts)
	first, n := unsafe.Pointer(&close[0]), len(close)
	fd0, nfds := unsafe.Pointer(&fds[0]), len(fds)
	// No signal handler may run in the child: it has one thread of a Go program and no scheduler. For the
	// same reason it does nothing but system calls, whose wrappers do not grow the stack.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^uint64(0)
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		kern.Close(pipe[1])
		return 0, err
	}
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, 0, 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 {
		for i := 0; i < n; i++ {
			g := (*gap)(unsafe.Add(first, uintptr(i)*unsafe.Sizeof(gap{})))
			unix.RawSyscall(unix.SYS_CLOSE_RANGE, g.lo, g.hi, 0)
		}
		// Until the other end is closed.
		unix.RawSyscall(unix.SYS_READ, uintptr(pipe[0]), uintptr(unsafe.Pointer(&old)), 1)
		for i := 0; i < nfds; i++ {
			fd := *(*int)(unsafe.Add(fd0, uintptr(i)*unsafe.Sizeof(int(0))))
			unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
		}
		for i := 0; i < ntexts; i++ {
			l := (*text)(unsafe.Add(text0, uintptr(i)*unsafe.Sizeof(text{})))
			unix.RawSyscall(unix.SYS_WRITE, uintptr(to), uintptr(l.p), l.n)
		}
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	if errno == 0 {
		for _, fd := range fds {
			kern.Close(fd) // not the last reference
		}
	}
	kern.Close(pipe[1])
	if errno != 0 {
		return 0, fmt.Errorf("make a child to close perf events in: %w", errno)
	}
	return int(pid), nil
}
