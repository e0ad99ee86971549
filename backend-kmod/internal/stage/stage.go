// Package stage puts a module into the kernel and takes it out, and speaks to it
// through its control file.
//
// In: the bytes of a .ko. Out: a Module with the operations of gs_control.h. What the
// kernel refuses is an error that says why and what to do.
package stage

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Version is GS_VERSION of gs_control.h.
const Version = 6

// Op is what to do: the GS_OP_* of gs_access.h.
type Op uint32

// The operations.
const (
	Info Op = iota
	State
	Target
	File
	Attach
	Detach
	Counters
	Get
	Set
	Add
	Delete
	Clear
	AddStat
	Elems
	Lock
	Unlock
	Run
	Left
	Peek
	Task
	Fired
	Stack
	Rows
)

// request is struct gs_op.
type request struct {
	op, glob   uint32
	n          int64
	key, val   uint64
	nkey, nval uint32
}

// ioc is GS_IOC: _IOWR('g', 0x57, struct gs_op).
const ioc = 3<<30 | uintptr(unsafe.Sizeof(request{}))<<16 | 'g'<<8 | 0x57

// Module is a module in the kernel with its control file open.
type Module struct {
	Name string
	// CPUs and RingSize describe the output buffers.
	CPUs     int
	RingSize int
	file     *os.File
	loaded   bool
}

// Error is a refusal with its remedy.
type Error struct {
	Msg, Hint string
	Err       error
}

func (e *Error) Error() string { return e.Msg }
func (e *Error) Unwrap() error { return e.Err }

// Load inserts a module and opens its control file. bufferKB is the output buffer of each CPU, 0 for the default.
// Modules whose tracers were killed are removed before; logf is told of one that had the name.
func Load(ko []byte, name string, bufferKB int, logf func(format string, args ...any)) (_ *Module, err error) {
	params := ""
	if bufferKB > 0 {
		params = fmt.Sprintf("buffer_kb=%d", bufferKB)
	}
	unlock := lockLoading()
	defer unlock()
	for _, left := range sweep("/") {
		if left == name && logf != nil {
			logf("removed module %s, whose tracer was killed", name)
		}
	}
	if err := insert(ko, params); err != nil {
		return nil, explain(err, name)
	}
	m := &Module{Name: name, loaded: true}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if m.file, err = os.OpenFile("/proc/gostap."+name, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("open the control file of module %s: %w", name, err)
	}
	info := make([]byte, 16)
	n, err := m.Do(Info, 0, 0, nil, info)
	if err != nil {
		return nil, fmt.Errorf("ask module %s: %w", name, err)
	}
	if n != Version {
		return nil, fmt.Errorf("module %s was made by another version of gostap (%d, this is %d)", name, n, Version)
	}
	m.CPUs, m.RingSize = int(info[0])|int(info[1])<<8, int(*(*uint64)(unsafe.Pointer(&info[8])))
	return m, nil
}

// insert hands the module over in an anonymous file, which finit_module wants.
func insert(ko []byte, params string) error {
	fd, err := unix.MemfdCreate("module", unix.MFD_CLOEXEC)
	if err == nil {
		f := os.NewFile(uintptr(fd), "module")
		defer f.Close()
		if _, err = f.Write(ko); err == nil {
			err = unix.FinitModule(fd, params, 0)
			if err == nil || err != unix.ENOSYS && err != unix.EINVAL {
				return err
			}
		}
	}
	return unix.InitModule(ko, params)
}

// explain says why the kernel refused a module.
func explain(err error, name string) error {
	e := &Error{Err: err, Msg: fmt.Sprintf("the kernel refuses module %s: %v", name, err)}
	switch {
	case errors.Is(err, unix.EEXIST), errors.Is(err, unix.EINVAL) && holder(name, "/") != "":
		e.Msg = fmt.Sprintf("a module named %s is loaded already", name)
		e.Hint = "give this one a name of its own with -m"
		switch holder(name, "/") {
		case "gostap":
			e.Hint = "another gostap runs it; " + e.Hint
		case "kernel":
			e.Msg = fmt.Sprintf("%s is the name of a part of the kernel, which is built into it", name)
		}
	case errors.Is(err, unix.EPERM):
		e.Msg = "loading kernel modules is not permitted"
		e.Hint = "run as root (CAP_SYS_MODULE)"
		if b, err := os.ReadFile("/proc/sys/kernel/modules_disabled"); err == nil &&
			strings.TrimSpace(string(b)) == "1" {
			e.Hint = "kernel.modules_disabled is set until the next boot; use --runtime=bpf"
		} else if b, err := os.ReadFile("/sys/kernel/security/lockdown"); err == nil &&
			!strings.Contains(string(b), "[none]") {
			e.Hint = "the kernel is locked down (secure boot) and takes signed modules only; use --runtime=bpf"
		}
	case errors.Is(err, unix.EKEYREJECTED), errors.Is(err, unix.ENOKEY), errors.Is(err, unix.EBADMSG):
		e.Msg = fmt.Sprintf("the kernel takes signed modules only: %v", err)
		e.Hint = "module.sig_enforce or secure boot asks for a signature; use --runtime=bpf"
	case errors.Is(err, unix.ENOEXEC), errors.Is(err, unix.EINVAL):
		e.Msg = fmt.Sprintf("module %s does not belong to this kernel: %v", name, err)
		e.Hint = "it was built for another kernel, or with other headers; dmesg says more"
	case errors.Is(err, unix.ENOMEM):
		e.Msg = "there is not enough kernel memory for the script's arrays and buffers"
		e.Hint = "declare smaller arrays, or lower MAXMAPENTRIES, MAXSTRINGLEN or -s"
	case errors.Is(err, unix.ENOSYS):
		e.Msg = "the running kernel has no support for loadable modules"
		e.Hint = "use --runtime=bpf"
	case errors.Is(err, unix.ENOENT):
		e.Msg = fmt.Sprintf("module %s wants a symbol that this kernel does not export", name)
		e.Hint = "dmesg names it"
	}
	return e
}

// holder says who has the name of a module, looking under root: "gostap", another "module", the "kernel" for a part
// that is built in, or "" for nobody. Built-in parts with parameters have a directory in /sys/module like the modules
// that are loaded, and a module of that name is refused with EINVAL; only loaded modules have an initstate there.
func holder(name, root string) string {
	if _, err := os.Stat(root + "/proc/gostap." + name); err == nil {
		return "gostap"
	}
	if _, err := os.Stat(root + "/sys/module/" + name + "/initstate"); err == nil {
		return "module"
	}
	if _, err := os.Stat(root + "/sys/module/" + name); err == nil {
		return "kernel"
	}
	return ""
}

// Do makes the module do something. key and val are as the operation says. It gives the operation's number.
func (m *Module) Do(op Op, glob uint32, n int64, key, val []byte) (int64, error) {
	r := request{op: uint32(op), glob: glob, n: n, nkey: uint32(len(key)), nval: uint32(len(val))}
	var pin runtime.Pinner
	defer pin.Unpin()
	if len(key) > 0 {
		pin.Pin(&key[0])
		r.key = uint64(uintptr(unsafe.Pointer(&key[0])))
	}
	if len(val) > 0 {
		pin.Pin(&val[0])
		r.val = uint64(uintptr(unsafe.Pointer(&val[0])))
	}
	if m.file == nil {
		return 0, os.ErrClosed
	}
	call := unix.Syscall
	if op >= Get && op <= Unlock {
		// These take microseconds, often with a lock held that handlers wait for: the thread keeps its place among Go's
		// threads, since getting it back can take long.
		call = unix.RawSyscall
	}
	if _, _, e := call(unix.SYS_IOCTL, m.file.Fd(), ioc, uintptr(unsafe.Pointer(&r))); e != 0 {
		return r.n, e
	}
	return r.n, nil
}

// Fd is the control file's descriptor.
func (m *Module) Fd() int { return int(m.file.Fd()) }

// Map maps the output buffers.
func (m *Module) Map() ([]byte, error) {
	size := m.CPUs * (m.RingSize + os.Getpagesize())
	return unix.Mmap(m.Fd(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Close closes the control file, which stops the module, and removes it.
func (m *Module) Close() error {
	if m.file != nil {
		m.file.Close()
		m.file = nil
	}
	if !m.loaded {
		return nil
	}
	m.loaded = false
	return remove(m.Name)
}

// remove unloads a module, which may be busy for a moment.
func remove(name string) error {
	for i := 0; ; i++ {
		err := unix.DeleteModule(name, unix.O_NONBLOCK)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EAGAIN && err != unix.EBUSY || i > 100 {
			return fmt.Errorf("unload module %s: %w", name, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The kernel's marks that modules leave (TAINT_OOT_MODULE and TAINT_UNSIGNED_MODULE of include/linux/panic.h).
const (
	taintOutside  = 1 << 12
	taintUnsigned = 1 << 13
)

// Taint gives the marks of the running kernel, 0 when they cannot be read.
func Taint() uint64 {
	b, err := os.ReadFile("/proc/sys/kernel/tainted")
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Tainted says what marks that a module has left mean, "" for none.
func Tainted(marks uint64) string {
	var why []string
	if marks&taintOutside != 0 {
		why = append(why, "does not come with the kernel (O)")
	}
	if marks&taintUnsigned != 0 {
		why = append(why, "is not signed (E)")
	}
	if len(why) == 0 {
		return ""
	}
	return "the kernel is marked as tainted until the next boot, since the module " + strings.Join(why, " and ")
}
