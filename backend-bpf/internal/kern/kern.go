// Package kern makes the system calls of the bpf and perf subsystems: one thin
// function a call, errors as the kernel's own numbers. It decides nothing.
//
// The attributes follow include/uapi/linux/bpf.h and perf_event.h of Linux 6.18; a
// field that an older kernel does not know is sent only when it is not zero, since
// kernels accept longer structures whose tail is zero.
package kern

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of bpf(2).
const (
	cmdMapCreate         = 0
	cmdMapLookup         = 1
	cmdMapUpdate         = 2
	cmdMapDelete         = 3
	cmdProgLoad          = 5
	cmdTestRun           = 10
	cmdObjGetInfo        = 15
	cmdRawTracepointOpen = 17
	cmdBTFLoad           = 18
	cmdMapFreeze         = 22
	cmdMapLookupBatch    = 24
	cmdMapTakeBatch      = 25 // BPF_MAP_LOOKUP_AND_DELETE_BATCH
	cmdLinkCreate        = 28
)

// call is bpf(2). A verifier that a signal interrupts answers EAGAIN, and is asked again.
func call(cmd uintptr, attr unsafe.Pointer, size uintptr) (int, error) {
	for tries := 0; ; tries++ {
		var r uintptr
		var e unix.Errno
		if quick(cmd) {
			r, _, e = unix.RawSyscall(unix.SYS_BPF, cmd, uintptr(attr), size)
		} else {
			r, _, e = unix.Syscall(unix.SYS_BPF, cmd, uintptr(attr), size)
		}
		if e == 0 {
			return int(r), nil
		}
		if e == unix.EINTR && cmd != cmdTestRun || e == unix.EAGAIN && cmd == cmdProgLoad && tries < 30 {
			continue
		}
		return -1, e
	}
}

// quick reports whether cmd takes microseconds. Such calls are often made with a lock held that handlers in the kernel
// wait for: the thread is not to give up its place among Go's threads for them, since getting it back can take long.
func quick(cmd uintptr) bool {
	switch cmd {
	case cmdMapLookup, cmdMapUpdate, cmdMapDelete, cmdMapLookupBatch, cmdMapTakeBatch, cmdTestRun:
		return true
	}
	return false
}

// ptr gives the address of s for a structure's field. Such fields are unsafe.Pointer and not
// uint64: what they name may lie on a stack, which moves.
func ptr[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// name cuts s to the 15 bytes and the letters that the kernel takes for object names.
func name(s string) (out [16]byte) {
	n := 0
	for i := 0; i < len(s) && n < 15; i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' {
			out[n] = c
			n++
		}
	}
	return out
}

// cstr gives s with a NUL.
func cstr(s string) []byte { return append([]byte(s), 0) }

// Close closes fd and ignores what cannot be helped.
func Close(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

// Info fills buf from BPF_OBJ_GET_INFO_BY_FD and gives the bytes that the kernel knows.
func Info(fd int, buf []byte) (int, error) {
	attr := struct {
		fd, len uint32
		info    unsafe.Pointer
	}{uint32(fd), uint32(len(buf)), ptr(buf)}
	_, err := call(cmdObjGetInfo, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	runtime.KeepAlive(buf)
	return int(attr.len), err
}
